// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// keyFile writes a private key as openssl does.
func keyFile(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestImageIsSigned(t *testing.T) {
	s := begin(t)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.FileServer(http.Dir("../../../contract/vectors/image/ok")))
	t.Cleanup(files.Close)
	s.does(exitDone, "image add --name gaps-v1 --url "+files.URL+"/gaps.raw.zst", " no ")
	s.does(exitUsage, "image sign gaps-v1 --key "+keyFile(t, other), "expected an Ed25519 key")
	s.does(exitUsage, "image sign gaps-v1 --line Gaps --key "+keyFile(t, private), "is not the name of an image")
	s.does(exitNotFound, "image sign none --key "+keyFile(t, private), "does not exist")
	s.does(exitDone, "image sign gaps-v1 --key "+keyFile(t, private), " yes ")
	for line, want := range map[string]string{"": "gaps", " --line debian": "debian"} {
		if got := s.does(exitDone, "image sign gaps-v1"+line+" --key "+keyFile(t, private), " yes "); !strings.Contains(
			got.err, "gaps-v1: disk of 8.39MB, 425.98KB used; ext4 of 2.10MB at 1.05MB; xfs of") {
			t.Errorf("what is signed is not shown: %s", got.err)
		}
		image := s.signedImage("gaps-v1")
		signature, err := base64.StdEncoding.DecodeString(image.Signature)
		wanted := "image 2 name=gaps-v1 line=" + want + " signed=2026-11-21T12:00:00Z digest=" + image.Digest
		if err != nil || image.Statement != wanted || !ed25519.Verify(public, []byte(image.Statement), signature) {
			t.Errorf("%q, signature %s: %v", image.Statement, image.Signature, err)
		}
	}
}

// signedImage reads an image as registered.
func (s session) signedImage(name string) api.Image {
	s.Helper()
	var image api.Image
	if err := json.Unmarshal([]byte(s.does(exitDone, "image show "+name+" -o json", "").out), &image); err != nil {
		s.Fatal(err)
	}
	return image
}

func TestNothingIsSignedBlindly(t *testing.T) {
	s := begin(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.FileServer(http.Dir("../../../contract/vectors/image")))
	t.Cleanup(files.Close)
	const digest = "sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383" // of ok/gaps
	for file, want := range map[string]string{
		"none":              "answered 404",                                      // sledd alone knows the digest
		"ok/one_chunk":      "is registered with digest " + digest + ", and its", // another file
		"bad/flip_in_index": "its index is damaged",
	} {
		name := strings.ReplaceAll(filepath.Base(file), "_", "-")
		s.does(exitDone, "image apply "+name+" --file-bytes 9 --bytes 1024 --digest "+digest+" --url "+files.URL+"/"+file+
			".raw.zst", " no ")
		s.does(exitFailed, "image sign "+name+" --key "+keyFile(t, private), "nothing was signed: ")
		s.does(exitFailed, "image sign "+name+" --key "+keyFile(t, private), want)
		if image := s.signedImage(name); image.Signature != "" || image.Statement != "" {
			t.Errorf("%s was signed: %+v", file, image)
		}
	}
}

func TestNodeIsCaptured(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.does(exitNotFound, "image capture n2 gold", "does not exist")
	file := filepath.Join(t.TempDir(), "user-data")
	if err := os.WriteFile(file, []byte("#cloud-config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "bind n1 --wipe-only --disk serial:x --mode auto --verify full --allow-unsigned --user-data "+file,
		"(wipe)")
	s.does(exitDone, "binding get n1 -o json", `"allow_unsigned": true`)
	s.does(exitDone, "image capture n1 gold --dry-run", "n1: its disk is only read, at its next boot")
	s.does(exitDone, "image capture n1 gold --dry-run --partition 2", "n1: partition 2 of its disk is only read, at its")
	s.does(exitDone, "binding list", "(wipe)")
	s.does(exitFailed, "image capture n1 gold --wait --timeout 1ms", "n1: its disk is only read, at its next boot")
	s.does(exitDone, "binding get n1 -o json", `"user_data_sha256": "`)
	s.does(exitDone, "image capture n1 gold", "(capture gold)")
	s.does(exitDone, "node get n1", "capture           gold")
	m := s.Machine(1)
	m.Serial = "x"
	if plan := m.Poll(0); !strings.Contains(plan, "\ncapture disk=serial:x ") {
		t.Fatal(plan)
	}
	m.Report("begin step=1 of=2 verb=capture",
		"progress step=1 verb=capture bytes=1000000000 total=2000000000 rate=100000000")
	s.does(exitDone, "status n1", "1/2 capture 50% 1.00GB 100.00MB/s")
	m.Report(sleddtest.CaptureEnd)
	s.does(exitDone, "image capture n1 gold --wait", "n1 captured generation 2")
	s.does(exitDone, "image show gold", "captured-from=n1")
	s.does(exitDone, "timeline n1", "MB/s")
	s.does(exitUsage, "bind n1 --reimage", "image gold exists")
	s.does(exitDone, "bind n1 --boot reboot", "(capture gold)")
	if got := s.does(exitDone, "bind n1 --image gold -o json", `"mode": "auto"`); strings.Contains(got.out, "capture") {
		t.Errorf("still to be captured: %s", got.out)
	}
}
