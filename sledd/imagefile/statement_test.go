// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
)

// signing is a vector of signatures. Floors are checked by nodes alone.
type signing struct{ name, code, image, digest, statement, signature, floor string }

func signings(t testing.TB) []signing {
	t.Helper()
	var all []signing
	for _, c := range append(vectors.Cases(t, "signing/ok", 4), vectors.Cases(t, "signing/bad", 60)...) {
		v := signing{name: c.Name}
		for line := range strings.SplitSeq(strings.TrimSuffix(c.Text, "\n"), "\n") {
			word, value, _ := strings.Cut(line, " ")
			if at := map[string]*string{"code": &v.code, "name": &v.image, "digest": &v.digest,
				"signature": &v.signature, "floor": &v.floor,
				"statement": &v.statement}[word]; at != nil {
				*at = value
			}
		}
		all = append(all, v)
	}
	return all
}

// unfit are the vectors whose statement is of another image.
var unfit = map[string]string{
	"other_name": "was signed for image debian-12-v8", "name_of_the_line": "was signed for image debian-12",
	"other_digest": "is of digest sha256:8e8e",
}

func TestStatementsAreTakenAsTheVectorsSay(t *testing.T) {
	for _, v := range signings(t) {
		parsed, err := ParseStatement(v.statement)
		if form := strings.HasPrefix(v.name, "form_"); form || v.statement == "" {
			if err == nil {
				t.Errorf("%s: %q was accepted as %+v", v.name, v.statement, parsed)
			}
			continue
		}
		if err != nil || parsed.String() != v.statement {
			t.Errorf("%s: %v, written as %q", v.name, err, parsed)
		}
		err = parsed.Fits(v.image, v.digest)
		if want := unfit[v.name]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", v.name, err, want)
		}
	}
}

func TestLineIsTheNameWithoutAVersion(t *testing.T) {
	for name, want := range map[string]string{
		"debian-12-v7": "debian-12", "debian-12-v7.1.2": "debian-12", "debian-12": "debian-12", "golden": "golden",
		"a-v1-v2": "a-v1", "a-v": "a-v", "a-vx1": "a-vx1", "a-v1x": "a-v1x", "v7": "v7", "a-v.1": "a-v.1",
	} {
		if got := LineOf(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func FuzzParseStatement(f *testing.F) {
	for _, v := range signings(f) {
		f.Add(v.statement)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := ParseStatement(text); err == nil && parsed.String() != text {
			t.Errorf("%q was accepted and is written as %q", text, parsed)
		}
	})
}
