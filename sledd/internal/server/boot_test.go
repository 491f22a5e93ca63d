// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// TestBootScriptsAreOnlyRead: by anybody, with any method that reads, from a cache as well.
func TestBootScriptsAreOnlyRead(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	s.Bind(api.BindingSpec{Node: "n2", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	s.Machine(2).Fulfil()
	before := dump(t, shared)
	for path, want := range map[string]struct{ text, cache string }{
		"/boot/" + m.MAC + ".ipxe":         {"/vmlinuz ", "no-cache"},
		"/boot/52-54-00-77-00-02.ipxe":     {"sanboot", "public, max-age=1, stale-if-error=31536000"},
		"/boot/52-54-00-77-00-99.ipxe":     {"/vmlinuz ", "no-cache"},
		"/boot/52-54-00-77-00-99.ipxe?a=b": {"/vmlinuz ", "no-cache"},
	} {
		first := s.Ask("GET", path, "", "")
		if first.Status != http.StatusOK || !strings.Contains(first.Body, want.text) ||
			strings.Contains(first.Body, "sledb_") || first.Header.Get("Cache-Control") != want.cache ||
			len(first.Header.Get("ETag")) != 66 {
			t.Errorf("%s: %+v", path, first)
		}
		if again := s.Ask("GET", path, "", ""); again.Body != first.Body {
			t.Errorf("%s: the second is %q", path, again.Body)
		}
		head := s.Ask("HEAD", path, "", "")
		for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "ETag"} {
			if got, want := head.Header.Get(name), first.Header.Get(name); head.Status != http.StatusOK || got != want ||
				want == "" {
				t.Errorf("HEAD %s: %d, %s %q, want %q", path, head.Status, name, got, want)
			}
		}
		cached := s.Ask("GET", path, "", "", "If-None-Match", first.Header.Get("ETag"))
		if cached.Status != http.StatusNotModified || cached.Body != "" {
			t.Errorf("%s from a cache: %+v", path, cached)
		}
	}
	if after := dump(t, shared); after != before {
		t.Errorf("changed:\n%s\nto:\n%s", before, after)
	}
	m.Report("begin step=1 of=4 verb=wipe") // its token lives
	s.phase(1, api.Wiping)
}
