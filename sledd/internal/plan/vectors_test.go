// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/plan"
)

const vectors = "../../../contract/vectors/plan"

func each(t testing.TB, folder string, see func(name, text string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(vectors, folder, "*.plan"))
	if err != nil || len(paths) < 4 {
		t.Fatalf("%s/%s: %d vectors, %v", vectors, folder, len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		see(filepath.Base(path), string(text))
	}
}

func TestGoodVectorsAreAcceptedAndSurviveEncoding(t *testing.T) {
	each(t, "ok", func(name, text string) {
		parsed, err := plan.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if written, err := plan.Encode(parsed); err != nil || written != text {
			t.Errorf("%s: %v, written as\n%s", name, err, written)
		}
	})
}

func TestBadVectorsAreRefused(t *testing.T) {
	each(t, "bad", func(name, text string) {
		if parsed, err := plan.Parse(text); err == nil {
			t.Errorf("%s was accepted as %+v", name, parsed)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, folder := range []string{"ok", "bad"} {
		each(f, folder, func(_, text string) { f.Add(text) })
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := plan.Parse(text)
		if err != nil {
			return
		}
		// lower-case %xx grows not, so what was read can be written, unless plain bytes came encoded; then it only shrinks
		written, err := plan.Encode(parsed)
		if err != nil {
			t.Fatalf("accepted but not writable: %v\n%q", err, text)
		}
		again, err := plan.Parse(written)
		if err != nil || again.Generation != parsed.Generation || len(again.Steps) != len(parsed.Steps) {
			t.Fatalf("written as %q, read again: %+v, %v", written, again, err)
		}
	})
}
