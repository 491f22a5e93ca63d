// SPDX-License-Identifier: Apache-2.0

package api

import "net/http"

// Transport trusts the same CA as the client and sends no token: for what else a site serves, such as images.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }
