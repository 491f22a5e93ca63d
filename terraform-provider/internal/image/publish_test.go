// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const vectors = "../../../contract/vectors/image"

// gapsDigest is that of ok/gaps.
const gapsDigest = "sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383"

// Any signature will do: sledd does not verify them, nodes do.
const (
	signature = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
	another   = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=="
)

// publish serves the vectors as a boot server does images, and counts requests.
func publish(t *testing.T) (string, *atomic.Int64) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(vectors, "ok", "gaps.raw.zst")); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	files := http.FileServer(http.Dir(vectors))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, &asked
}

// away is the URL of an image where no server is.
func away(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL + "/image.raw.zst"
}

// declare is an image at one URL, with more lines in it.
func declare(name, url string, lines ...string) string {
	text := fmt.Sprintf("resource \"sled_image\" \"i\" {\n  name = %q\n  urls = [%q]\n", name, url)
	for _, line := range lines {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

// given is all that has to be known of ok/gaps.
var given = []string{`digest = "` + gapsDigest + `"`, "bytes = 8388608", "file_bytes = 1283"}

// statementOf is what the signature of ok/gaps under that name is over.
func statementOf(name string) string {
	return "image 2 name=" + name + " line=gaps signed=2026-11-23T15:50:00Z digest=" + gapsDigest
}

// signedBy declares signature and statement of such an image.
func signedBy(name, signature string) string {
	return fmt.Sprintf("statement = %q\n  signature = %q", statementOf(name), signature)
}

// sign registers a signature as sledctl does.
func sign(t *testing.T, s *sleddtest.Sledd, name, signature string) {
	t.Helper()
	image, err := s.Client().Image(t.Context(), name)
	if err == nil {
		image.Statement, image.Signature = statementOf(name), signature
		_, err = s.Client().PutImage(t.Context(), image.ImageSpec)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func forget(t *testing.T, s *sleddtest.Sledd, name string) {
	t.Helper()
	if err := s.Client().DeleteImage(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// isNotRegistered wants that nothing was registered.
func isNotRegistered(t *testing.T, s *sleddtest.Sledd, name string) {
	t.Helper()
	if image, err := s.Client().Image(t.Context(), name); !api.IsNotFound(err) {
		t.Errorf("%+v is registered, %v", image, err)
	}
}

// config is a whole configuration for the CLI.
func config(server, body string) string { return acctest.Config(acctest.Header(server), body) }
