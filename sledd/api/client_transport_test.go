// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTransportTrustsTheSiteAndTellsNoToken(t *testing.T) {
	site := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token was sent")
		}
	}))
	defer site.Close()
	for want, config := range map[bool]Config{
		true: {Server: site.URL, Token: "hush", CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: site.Certificate().Raw})},
		false: {Server: site.URL, Token: "hush"},
	} {
		client, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: client.Transport()}).Get(site.URL + "/images/i")
		if err == nil {
			answer.Body.Close()
		}
		if (err == nil) != want {
			t.Errorf("reached it: %v, want %v: %v", err == nil, want, err)
		}
	}
}
