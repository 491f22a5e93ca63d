// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	stall = 8 * time.Second
	most  = 2 * time.Minute

	// tailBytes of the end of a file come first: all there is to know of an image of 2.5 GiB, in one request.
	tailBytes = 256 << 10
	// partMax bounds one answer, index or seek table, so that no server fills the memory.
	partMax = 256 << 20
)

// Fetcher reads images of HTTP servers that serve parts of files. The zero value trusts the system's CAs.
type Fetcher struct {
	Transport http.RoundTripper
	Stall     time.Duration // longest silence of a server; default 8 s
	Most      time.Duration // that one server may take; default 2 min
}

// Fetch reads the trailer and index of the image at a URL. Unless the error IsRefused, the fault is
// the server's and not the image's.
func (f Fetcher) Fetch(ctx context.Context, url string) (Image, error) {
	r := remote{client: &http.Client{Transport: f.Transport, CheckRedirect: refuseRedirect}, url: url, stall: f.Stall}
	if r.stall <= 0 {
		r.stall = stall
	}
	if f.Most <= 0 {
		f.Most = most
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.Most, fmt.Errorf("not done after %s", f.Most))
	defer cancel()
	image, err := r.fetch(ctx)
	if err != nil {
		return Image{}, fmt.Errorf("%s: %w", url, err)
	}
	return image, nil
}

// First reads the image at the first URL that answers, and returns the errors of the URLs before
// it. A faulty image ends the search.
func (f Fetcher) First(ctx context.Context, urls []string) (Image, []error, error) {
	var away []error
	for _, url := range urls {
		image, err := f.Fetch(ctx, url)
		if err == nil || IsRefused(err) || ctx.Err() != nil {
			return image, away, err
		}
		away = append(away, err)
	}
	return Image{}, nil, errors.Join(away...)
}

// Nodes follow no redirects either.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
