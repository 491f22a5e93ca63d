// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// An upload that started before the image was registered, and ends afterwards: its file has another name.
func TestAnUploadThatEndsLateIsNoPartOfTheImage(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{ImageKeys: imagefile.Keys{public}})
	m := capturing(s, 1, "gold")
	s.upload(m, http.StatusNoContent, "?generation=1")
	s.upload(m, http.StatusNoContent, "?generation=1")
	m.Report(captureBegin, captureEnd)
	late := strings.Repeat("f", 32)
	m.Report(strings.Replace(captureEnd, sleddtest.Upload, late, 1))
	image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/gold", nil))
	for _, url := range image.URLs {
		if !strings.HasSuffix(url, capturedFile) {
			t.Errorf("the image is at %s", url)
		}
	}
	image.Statement = imagefile.Statement{Name: "gold", Line: "gold", Signed: s.now(), Digest: image.Digest}.String()
	image.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(image.Statement)))
	s.admin(http.StatusOK, "PUT", "/v1/images/gold", image.ImageSpec)
	s.Bind(api.BindingSpec{Node: "n1", Image: "gold"})
	m.Reboot()
	m.Poll(0)
	for upload, want := range map[string]int{sleddtest.Upload: http.StatusOK, late: http.StatusForbidden,
		"": http.StatusBadRequest, "..": http.StatusBadRequest} {
		if a := s.Ask("GET", "/node/v1/"+m.MAC+"/captured?generation=1&upload="+upload, m.Token, ""); a.Status != want {
			t.Errorf("upload %q: got %d, want %d: %s", upload, a.Status, want, a.Body)
		}
	}
}

func TestCapturedImageIsPrivate(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	other := capturing(s, 2, "silver")
	read := func(when, token string, want int) {
		t.Helper()
		a := s.Ask("GET", "/node/v1/"+m.MAC+"/captured?generation=1&upload="+sleddtest.Upload, token, "")
		if public := strings.HasPrefix(a.Header.Get("Cache-Control"), "public"); a.Status != want ||
			public != (want == http.StatusOK) {
			t.Errorf("%s: got %d and %q, want %d: %s", when, a.Status, a.Header.Get("Cache-Control"), want, a.Body)
		}
	}
	strangers := func(when string) {
		t.Helper()
		read(when+", nobody", "", http.StatusUnauthorized)
		read(when+", a word", "x", http.StatusUnauthorized)
		read(when+", an unknown token", "sledb_525400770001_1_"+strings.Repeat("a", 43), http.StatusUnauthorized)
		read(when+", an operator, at the nodes' server", adminToken, http.StatusUnauthorized)
		read(when+", another node", other.Token, http.StatusForbidden)
	}
	strangers("while it is made")
	read("its maker", m.Token, http.StatusNoContent)
	next := "/node/v1/" + m.MAC + "/captured?generation=2&upload=" + sleddtest.Upload
	if a := s.Ask("GET", next, m.Token, ""); a.Status != http.StatusForbidden {
		t.Errorf("another generation: %d", a.Status)
	}
	m.Report(captureBegin, captureEnd)
	strangers("unsigned")
	read("its maker afterwards", m.Token, http.StatusForbidden)
	s.Bind(api.BindingSpec{Node: "n2", Image: "gold", AllowUnsigned: true})
	if plan := other.Poll(0); !strings.Contains(plan, " image=https://10.77.0.1/images/captured/"+capturedFile+" ") {
		t.Errorf("plan: %s", plan)
	}
	read("a node that is bound to it", other.Token, http.StatusNoContent)
	image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/gold", nil))
	if image.Labels["captured-admission"] != "open" {
		t.Errorf("labels: %v", image.Labels)
	}
}

func TestOnlyTheSignatureOfTheSitePublishesACapturedImage(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{ImageKeys: imagefile.Keys{public}})
	m := capturing(s, 1, "gold")
	m.Report(captureBegin, captureEnd)
	image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/gold", nil))
	read := func(when string, want int) {
		t.Helper()
		a := s.Ask("GET", "/node/v1/"+m.MAC+"/captured?generation=1&upload="+sleddtest.Upload, "", "")
		if kept := strings.HasPrefix(a.Header.Get("Cache-Control"), "public"); a.Status != want ||
			kept != (want == http.StatusOK) {
			t.Errorf("%s: got %d and %q, want %d: %s", when, a.Status, a.Header.Get("Cache-Control"), want, a.Body)
		}
	}
	sign := func(image api.ImageSpec, key ed25519.PrivateKey) {
		t.Helper()
		image.Statement = imagefile.Statement{Name: image.Name, Line: "gold", Signed: s.now(), Digest: image.Digest}.String()
		image.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(image.Statement)))
		s.admin(http.StatusOK, "PUT", "/v1/images/"+image.Name, image)
	}
	image.Statement = imagefile.Statement{Name: "gold", Line: "gold", Signed: s.now(), Digest: image.Digest}.String()
	image.Signature = strings.Repeat("A", 86) + "=="
	s.admin(http.StatusOK, "PUT", "/v1/images/gold", image.ImageSpec)
	read("a signature that is none", http.StatusUnauthorized)
	sign(image.ImageSpec, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	read("signed by a key of nobody", http.StatusUnauthorized)
	lead := image.ImageSpec // what is signed, but is not what was captured
	lead.Name, lead.Signature = "lead", ""
	sign(lead, private)
	read("the file of another image that is signed", http.StatusUnauthorized)
	sign(image.ImageSpec, private)
	read("signed", http.StatusOK)
	signed := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/gold", nil)).ImageSpec
	s.admin(http.StatusOK, "DELETE", "/v1/images/gold/signature", nil)
	read("withdrawn", http.StatusUnauthorized)
	s.admin(http.StatusConflict, "PUT", "/v1/images/gold", signed)
	read("the signature that was withdrawn, again", http.StatusUnauthorized)
}

func TestOperatorsReadCapturedImages(t *testing.T) {
	s := fresh(t)
	const file = "/v1/captured/" + capturedFile
	s.admin(http.StatusNoContent, "GET", file, nil)
	for _, other := range []string{"x.raw.zst", "52-54-00-77-00-01-1.raw.zst", capturedFile + "x"} {
		s.admin(http.StatusUnprocessableEntity, "GET", "/v1/captured/"+other, nil)
	}
	if a := s.Ask("GET", file, "", ""); a.Status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", a.Status)
	}
	eve := as[api.Operator](t, s.admin(http.StatusOK, "PUT", "/v1/operators/eve",
		api.Operator{Name: "eve", Role: api.Read}))
	if a := s.Ask("GET", file, eve.Token, ""); a.Status != http.StatusForbidden {
		t.Errorf("an operator who only reads: %d", a.Status)
	}
}
