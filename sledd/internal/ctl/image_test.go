// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	sum := sha256.Sum256([]byte("index"))
	sizes := "--file-bytes 9 --bytes 1024 --used-bytes 512"
	s.does(exitDone, fmt.Sprintf("image apply i --url http://a/i --digest sha256:%x %s", sum, sizes), " no ")
	s.does(exitUsage, "image sign i --key "+keyFile(t, other), "expected an Ed25519 key")
	s.does(exitNotFound, "image sign none --key "+keyFile(t, private), "does not exist")
	s.does(exitDone, "image sign i --key "+keyFile(t, private), " yes ")
	var image api.Image
	if err := json.Unmarshal([]byte(s.does(exitDone, "image show i -o json", "").out), &image); err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(image.Signature)
	if err != nil || !ed25519.Verify(public, append([]byte("sled-image-1:"), sum[:]...), signature) {
		t.Errorf("signature %s of %s does not hold: %v", image.Signature, image.Digest, err)
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
	s.does(exitFailed, "image capture n1 gold --wait --timeout 1ms", "user data is removed from the binding")
	s.does(exitDone, "image capture n1 gold", "(capture gold)")
	s.does(exitDone, "node get n1", "capture           gold")
	m := s.Machine(1)
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

func TestReasons(t *testing.T) {
	for want, status := range map[string]api.Status{
		"": {Phase: api.Operational, Verb: "write", Reason: api.Clean("old")},
		"wipe: code 4 disk: 2 disks match": {Phase: api.Failed, Verb: "wipe", Code: 4,
			Reason: api.Clean("2 disks match")},
		"write: code 137 killed by signal 9": {Phase: api.Failed, Verb: "write", Code: 137},
		"capture: image gold was registered": {Phase: api.Failed, Verb: "capture",
			Reason: api.Clean("image gold was registered")},
	} {
		if got := reasonText(status); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDetailBelongsToThePhase(t *testing.T) {
	for phase, want := range map[api.Phase]string{
		api.Operational: "delta: 5 %", api.Starting: "delta: 5 %", api.Booting: "", api.Idle: "", api.Discovered: "",
	} {
		n := node(1, phase, 0)
		n.Status.Detail = api.Clean("delta: 5 %")
		if got := noteText(n); got != want {
			t.Errorf("%s: status shows %q, want %q", phase, got, want)
		}
	}
}

func TestCaptureIsDrawn(t *testing.T) {
	n := node(1, api.Capturing, 0)
	n.Status.Progress = &api.Progress{Bytes: 1_000_000_000, Total: 2_000_000_000, Rate: 100_000_000}
	live := &liveView{app: &app{System: System{Now: func() time.Time { return noon }}}}
	if got := live.note(n, 60); !strings.Contains(got, barFull) || !strings.Contains(got, "50%") ||
		!strings.Contains(got, "0:10 left") {
		t.Errorf("%q", got)
	}
}
