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

func TestCapturedImagesAreReadFromTheAPI(t *testing.T) {
	const file = "/captured/52-54-00-77-00-01-3-0c2f5c1e7a544c1f9a551f3a0b8f6f5e.raw.zst"
	status := http.StatusPartialContent
	nodes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the token was sent to the nodes' server: %s", r.URL)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer nodes.Close()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1"+file || r.Header.Get("Authorization") != "Bearer hush" || r.Header.Get("Range") == "" {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		w.WriteHeader(status)
	}))
	defer site.Close()
	client, err := New(Config{Server: site.URL, Token: "hush"})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[int]int{
		http.StatusPartialContent: http.StatusPartialContent, http.StatusForbidden: http.StatusForbidden,
		http.StatusNoContent: http.StatusTeapot, // sledd without a web server
		http.StatusNotFound:  http.StatusTeapot,
	} {
		status = given
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, nodes.URL+"/images"+file, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Range", "bytes=-9")
		answer, err := client.Transport().RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d became %d, want %d", given, answer.StatusCode, want)
		}
	}
}
