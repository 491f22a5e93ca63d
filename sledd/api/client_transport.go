// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/http"
	"net/url"
	"regexp"
)

// Transport trusts the CA of the client and sends no token: for other servers of a site, such as that of the images.
// The token goes to the client's own server alone, which has captured images that are not signed yet: a request for
// such a file is sent there.
func (c *Client) Transport() http.RoundTripper { return &files{c} }

type files struct{ client *Client }

var capturedFile = regexp.MustCompile(`/captured/([0-9a-f-]+\.raw\.zst)$`)

// RoundTrip implements http.RoundTripper.
func (f *files) RoundTrip(request *http.Request) (*http.Response, error) {
	found := capturedFile.FindStringSubmatch(request.URL.Path)
	if found == nil || f.client.token == "" {
		return f.client.http.Transport.RoundTrip(request) //nolint:wrapcheck // is the transport
	}
	address, err := url.Parse(f.client.base + "/v1/captured/" + found[1])
	if err != nil {
		return nil, err
	}
	private := request.Clone(request.Context())
	private.URL, private.Host = address, ""
	private.Header.Set("Authorization", "Bearer "+f.client.token)
	response, err := f.client.http.Transport.RoundTrip(private)
	if err != nil || response.StatusCode != http.StatusNoContent && response.StatusCode != http.StatusNotFound {
		return response, err //nolint:wrapcheck // is the transport
	}
	_ = response.Body.Close() // sledd has no such file, only a web server in front of it
	return f.client.http.Transport.RoundTrip(request)
}
