// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// remote is one file at one server, of which the end is here already.
type remote struct {
	client *http.Client
	url    string
	stall  time.Duration

	total int64
	tail  []byte
}

// span is a part of a file of that size.
type span struct{ at, size, total int64 }

func (r *remote) fetch(ctx context.Context) (Image, error) {
	end, data, err := r.get(ctx, fmt.Sprintf("bytes=-%d", tailBytes))
	if err != nil {
		return Image{}, err
	}
	if end.at+end.size != end.total || end.size < min(end.total, tailBytes) {
		return Image{}, fmt.Errorf("answered with %d bytes at %d of %d, want the last %d", end.size, end.at,
			end.total, tailBytes)
	}
	r.total, r.tail = end.total, data
	return read(r.total, func(at, size int64) ([]byte, error) { return r.part(ctx, at, size) })
}

// part returns bytes of the file, without a request when they are of its tail.
func (r *remote) part(ctx context.Context, at, size int64) ([]byte, error) {
	if from := at - (r.total - int64(len(r.tail))); from >= 0 {
		return r.tail[from : from+size], nil
	}
	got, data, err := r.get(ctx, fmt.Sprintf("bytes=%d-%d", at, at+size-1))
	if err == nil && got != (span{at, size, r.total}) {
		err = fmt.Errorf("answered with %d bytes at %d of %d, want %d at %d of %d", got.size, got.at, got.total,
			size, at, r.total)
	}
	return data, err
}

// get asks for one range and reads the answer. It ends when the server is silent for too long.
func (r *remote) get(ctx context.Context, wanted string) (span, []byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(r.stall, func() { cancel(fmt.Errorf("silent for %s", r.stall)) })
	defer watch.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	if err != nil {
		return span{}, nil, errors.New("no address of a file")
	}
	request.Header.Set("Range", wanted)
	request.Header.Set("Accept-Encoding", "identity")
	response, err := r.client.Do(request)
	if err != nil {
		return span{}, nil, cause(ctx, err)
	}
	defer response.Body.Close()
	got, err := parseAnswer(response)
	if err != nil {
		return got, nil, err
	}
	data := make([]byte, got.size)
	if _, err := io.ReadFull(&heard{response.Body, watch, r.stall}, data); err != nil {
		return got, nil, fmt.Errorf("the answer broke off: %w", cause(ctx, err))
	}
	return got, data, nil
}

// heard puts the end off with each byte that comes.
type heard struct {
	io.Reader
	watch *time.Timer
	stall time.Duration
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n > 0 {
		h.watch.Reset(h.stall)
	}
	return n, err //nolint:wrapcheck // io.Reader
}

// cause returns why a request ended, without the URL, which Fetch adds.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

var contentRange = regexp.MustCompile(`^bytes ([0-9]+)-([0-9]+)/([0-9]+)$`)

// parseAnswer returns which part of the file an answer holds, never more than an index may have.
func parseAnswer(response *http.Response) (span, error) {
	switch {
	case response.StatusCode == http.StatusOK && response.ContentLength == 0:
		return span{}, nil // an empty file has no parts
	case response.StatusCode == http.StatusOK:
		return span{}, errors.New("the server sends whole files only: it does not know HTTP ranges, which images need")
	case response.StatusCode/100 == 3:
		return span{}, fmt.Errorf("answered %s to %q: nodes follow no redirects: use the final URL of the file",
			response.Status, response.Header.Get("Location"))
	case response.StatusCode != http.StatusPartialContent:
		return span{}, fmt.Errorf("answered %s", response.Status)
	case response.Header.Get("Content-Encoding") != "":
		return span{}, fmt.Errorf("answered with an encoded body (%s)", response.Header.Get("Content-Encoding"))
	}
	text := response.Header.Get("Content-Range")
	match := contentRange.FindStringSubmatch(text)
	if match == nil {
		return span{}, fmt.Errorf("answered with Content-Range %q, want bytes FROM-TO/TOTAL", text)
	}
	var numbers [3]int64
	for i := range numbers {
		number, err := strconv.ParseInt(match[i+1], 10, 64)
		if err != nil {
			return span{}, fmt.Errorf("answered with Content-Range %q: %w", text, err)
		}
		numbers[i] = number
	}
	first, last, total := numbers[0], numbers[1], numbers[2]
	if first > last || last >= total || last-first >= partMax {
		return span{}, fmt.Errorf("answered with Content-Range %q, which cannot be", text)
	}
	return span{first, last - first + 1, total}, nil
}
