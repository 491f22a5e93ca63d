// SPDX-License-Identifier: Apache-2.0

package api

import "net/http"

// Transport trusts the CA of the client and sends no token: for other servers of a site, such as that of the images.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }
