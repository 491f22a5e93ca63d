// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestConsole(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	if a := s.admin(http.StatusNotFound, "GET", "/v1/nodes/n1/console", nil); !strings.Contains(a.Body,
		"--console-directory") {
		t.Error(a.Body)
	}
	folder := t.TempDir()
	recording := &sledd{T: t, Sledd: sleddtest.StartWith(t, sleddtest.Options{Store: shared, ConsoleDirectory: folder})}
	if a := recording.admin(http.StatusNotFound, "GET", "/v1/nodes/n1/console", nil); !strings.Contains(a.Body,
		"52-54-00-77-00-01.log") {
		t.Error(a.Body)
	}
	for name, text := range map[string]string{"": "new\n", ".1": "older\nold\n"} {
		if err := os.WriteFile(filepath.Join(folder, "52-54-00-77-00-01.log"+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{"": "older\nold\nnew\n", "?bytes=4": "new\n", "?bytes=8": "old\nnew\n",
		"?bytes=3": "", "?bytes=7": "new\n"} {
		if a := recording.admin(http.StatusOK, "GET", "/v1/nodes/n1/console"+query, nil); a.Body != want ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %q, want %q", query, a.Body, want)
		}
	}
	recording.admin(http.StatusNotFound, "GET", "/v1/nodes/n9/console", nil)
}
