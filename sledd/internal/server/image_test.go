// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestSignatureIsAddedLater(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	spec := s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", AllowUnsigned: true, Mode: "auto"})
	first := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/d12", nil))
	statement := "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + spec.Digest
	put := func(want int, signature string, bytes int64) {
		t.Helper()
		changed := spec
		changed.Signature, changed.Bytes = signature, bytes
		if signature != "" {
			changed.Statement = statement
		}
		s.admin(want, "PUT", "/v1/images/d12", changed)
	}
	one, two := strings.Repeat("A", 86)+"==", strings.Repeat("B", 85)+"A=="
	put(http.StatusUnprocessableEntity, "AAAA", spec.Bytes)
	put(http.StatusConflict, one, spec.Bytes*2)
	put(http.StatusOK, one, spec.Bytes)
	put(http.StatusOK, two, spec.Bytes)
	put(http.StatusOK, "", spec.Bytes) // says nothing of it
	image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/d12", nil))
	if image.Signature != two || image.Statement != statement || !image.Created.Equal(first.Created) {
		t.Errorf("image: %+v", image)
	}
	if plan := s.Machine(1).Poll(0); !strings.Contains(plan,
		" signature="+strings.Repeat("B", 85)+"A%3D%3D unsigned=allow mode=auto gaps=zero known=") ||
		!strings.Contains(plan, " name=d12 statement=image%202%20name%3Dd12%20") {
		t.Errorf("plan: %s", plan)
	}
	if again := s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Verify: "full"}); again.Generation != 1 {
		t.Errorf("how to write raised the generation: %+v", again)
	}
}

// A signature that was withdrawn does not come back: who had it has it still.
func TestSignatureIsWithdrawn(t *testing.T) {
	s := fresh(t)
	spec := s.Register("d12")
	put := func(want int, signed time.Time) {
		t.Helper()
		spec.Signature = strings.Repeat("A", 86) + "=="
		spec.Statement = "image 2 name=d12 line=d signed=" + signed.UTC().Format(time.RFC3339) + " digest=" + spec.Digest
		s.admin(want, "PUT", "/v1/images/d12", spec)
	}
	first := s.now()
	put(http.StatusOK, first)
	s.admin(http.StatusPreconditionFailed, "DELETE", "/v1/images/d12/signature", nil, "If-Match", `"1"`)
	s.admin(http.StatusOK, "DELETE", "/v1/images/d12/signature?dry_run=true", nil)
	if image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/d12", nil)); image.Signature == "" {
		t.Error("a dry run has withdrawn it")
	}
	image, err := s.Client().UnsignImage(t.Context(), "d12")
	if err != nil || image.Signature != "" || image.Statement != "" {
		t.Errorf("%+v %v", image, err)
	}
	put(http.StatusConflict, first)
	put(http.StatusConflict, first.Add(-time.Hour))
	put(http.StatusOK, first.Add(time.Minute))
	s.admin(http.StatusNotFound, "DELETE", "/v1/images/d13/signature", nil)
}

func TestStatementOfAnotherImageIsRefused(t *testing.T) {
	s := fresh(t)
	spec := s.Register("d12")
	for statement, want := range map[string]string{
		"image 2 name=d13 line=d signed=2026-11-23T15:50:00Z digest=" + spec.Digest: "was signed for image d13",
		"image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=sha256:" + strings.Repeat("0", 64): "the statement " +
			"is of digest sha256:0000",
		"image 2 name=d12 line=d signed=yesterday digest=" + spec.Digest: "is not a statement of an image",
	} {
		changed := spec
		changed.Statement, changed.Signature = statement, strings.Repeat("A", 86)+"=="
		if answer := s.admin(http.StatusUnprocessableEntity, "PUT", "/v1/images/d12", changed); !strings.Contains(
			answer.Body, want) {
			t.Errorf("%s: %s", statement, answer.Body)
		}
		changed.Name = "other"
		s.admin(http.StatusUnprocessableEntity, "PUT", "/v1/images/other", changed)
	}
	statement, signature := spec, spec
	statement.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + spec.Digest
	signature.Signature = strings.Repeat("A", 86) + "=="
	for _, alone := range []api.ImageSpec{statement, signature} {
		if answer := s.admin(http.StatusUnprocessableEntity, "PUT", "/v1/images/d12", alone); !strings.Contains(
			answer.Body, "belong together") {
			t.Error(answer.Body)
		}
	}
}
