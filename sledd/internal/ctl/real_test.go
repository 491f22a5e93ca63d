// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// fail runs the first step of a node's plan, which fails.
func fail(m *sleddtest.Machine) {
	m.Say("facts", "facts 1\nboot "+m.Boot+"\ncpu model=EPYC threads=2 arch=x86_64\n"+
		"disk name=vda serial="+m.Serial+" bytes=4294967296 transport=virtio\n"+
		"disk name=vdb serial=LAB-1001 bytes=8589934592\n")
	m.Fail(4, "2 disks match")
	m.Say("log?step=1", "vda LAB-0001 matches\nvdb LAB-1001 matches\n--- dmesg\n")
}

// session runs command lines one after the other; each must end as said.
type session struct {
	*testing.T
	*sleddtest.Sledd
}

func begin(t *testing.T) session {
	t.Helper()
	return session{t, sleddtest.Start(t)}
}

func (s session) does(code int, line, want string) ran {
	s.Helper()
	got := sledctl(s.T, s.URL, "", strings.Fields(line)...)
	if got.code != code || !strings.Contains(got.out+got.err, want) {
		s.Errorf("sledctl %s: exit %d, want %d and %q; said\n%s%s", line, got.code, code, want, got.out, got.err)
	}
	return got
}

func TestAgainstSledd(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply 52-54-00-77-00-01 --name n1 --disk only --label rack=a --bmc ipmi://10.77.0.201:623",
		"rack=a")
	s.does(exitDone, "node apply n2 --mac 52:54:00:77:00:02 --disk only", "n2")
	s.does(exitDone, "node apply n1 --label row=1 --unlabel rack", "row=1")
	s.does(exitConflict, "node apply 52:54:00:77:00:03 --name n1", "belongs to node")
	image := "image apply debian-12-v1 --url http://10.77.0.1/i --digest sha256:" + strings.Repeat("0", 64) +
		" --file-bytes 9 --bytes "
	s.does(exitDone, image+"1024", "debian-12-v1")
	s.does(exitConflict, image+"2048", "another content gets another name")
	s.does(exitUsage, "bind n1 --image nothing", "image nothing does not exist")
	s.does(exitDone, strings.Replace(image, "debian-12-v1", "debian-13-6.12 --kind kernel", 1)+"1024", "kernel")
	s.does(exitUsage, "bind n1 --image debian-13-6.12", "image debian-13-6.12 is a kernel for the Sled system")
	s.does(exitDone, "image delete debian-13-6.12", "deleted")
	s.does(exitDone, "bind n1 n2 --image debian-12-v1", "debian-12-v1")
	s.does(exitConflict, "image delete debian-12-v1", "is bound")
	s.does(exitConflict, "node delete n1", "delete the binding first")
	s.does(exitDone, "timeline n1", "no run yet")
	s.does(exitNotFound, "log n1", "no log")
	fail(s.Machine(1))
	s.does(exitDone, "node list --phase failed", "n1")
	s.does(exitDone, "node get n1", "LAB-1001")
	s.does(exitDone, "log n1", "vdb LAB-1001 matches")
	s.does(exitDone, "events n1", "end wipe")
	s.does(exitFailed, "watch --wait n1", "n1: wipe: code 4 disk: 2 disks match")
	s.does(exitDone, "bind n1 --reimage", "2 ")
	s.does(exitDone, "status n1", "1 -> 2")
	s.does(exitDone, "bind -l row=1 --wipe-only", "(wipe)")
	s.does(exitDone, "unbind n1 n2", "binding n2 deleted")
	s.does(exitNotFound, "unbind n1", "not bound")
	s.does(exitDone, "node delete n1", "deleted")
	s.does(exitDone, "image delete debian-12-v1", "deleted")
}

func TestDeclarationsGoRound(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.does(exitDone, "bind n1 --wipe-only", "(wipe)")
	for noun, apply := range map[string]string{"node": "node apply", "binding": "bind"} {
		file := filepath.Join(t.TempDir(), "list.yaml")
		before := s.does(exitDone, noun+" list -o yaml", "52:54:00:77:00:01").out
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s.does(exitDone, apply+" -f "+file, "n1")
		if after := s.does(exitDone, noun+" list -o yaml", "").out; after != before {
			t.Errorf("applying what was listed changed it from\n%s\nto\n%s", before, after)
		}
	}
}

func TestBindingListShowsNames(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only --label rack=a", "n1")
	s.does(exitDone, "node apply n2 --mac 52:54:00:77:00:02 --disk only", "n2")
	s.does(exitDone, "bind -l rack=a --wipe-only", "n1    52:54:00:77:00:01")
	s.does(exitDone, "binding list", "n1    52:54:00:77:00:01")
	s.does(exitDone, "bind n2 --wipe-only", "n2    52:54:00:77:00:02")
	s.does(exitDone, "node apply 52:54:00:77:00:02 --name b2", "b2")
	s.does(exitDone, "binding list", "b2    52:54:00:77:00:02")
	s.does(exitDone, "binding get b2", "b2    52:54:00:77:00:02")
}

func TestNodeListShowsTheReportedArchitecture(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.Machine(1).Say("facts", "facts 1\nboot b1\ncpu arch=aarch64\n")
	s.does(exitDone, "node list", " arm64 ")
	s.does(exitDone, "node get n1", "architecture      arm64")
	s.Machine(1).Say("facts", "facts 1\nboot b2\ncpu arch=%1B%5B31m\n")
	if got := s.does(exitDone, "node list -o json", `"mac"`); strings.Contains(got.out, "architecture") {
		t.Errorf("an architecture that Sled does not know:\n%s", got.out)
	}
	s.does(exitDone, "node apply n1 --architecture x86_64", " x86_64 ")
}

func TestOwnersOfBindings(t *testing.T) {
	s := begin(t)
	s.Declare(1)
	s.Declare(2)
	s.Register("d12")
	s.does(exitDone, "bind n1 --image d12 --owner terraform:rack-a", "n1")
	s.does(exitDone, "bind n2 --image d12", "n2")
	s.does(exitDone, "bind n1 --verify full", "n1")
	s.does(exitDone, "binding get n1 -o yaml", "owner: terraform:rack-a")
	s.does(exitDone, "node get n1", "owner             terraform:rack-a")
	if got := s.does(exitDone, "binding list --owner terraform:rack-a", "n1"); strings.Contains(got.out, "n2") {
		t.Errorf("n2 has no owner:\n%s", got.out)
	}
	s.does(exitConflict, "bind n1 n2 --image d12 --owner me", "the binding of n1 belongs to terraform:rack-a")
	s.does(exitConflict, "unbind n1", "the binding of n1 belongs to terraform:rack-a")
	s.does(exitConflict, "unbind n1 --owner me", "belongs to terraform:rack-a")
	s.does(exitDone, "binding delete n1 --owner terraform:rack-a", "deleted")
	s.does(exitDone, "bind n1 --image d12 --owner terraform:rack-a", "n1")
	s.does(exitDone, "bind n1 --owner me --take-over -o yaml", "owner: me")
	if got := s.does(exitDone, "bind n1 --take-over -o yaml", "generation: 1"); strings.Contains(got.out, "owner") {
		t.Errorf("still owned:\n%s", got.out)
	}
	s.does(exitDone, "bind n1 --owner me", "n1")
	s.does(exitDone, "unbind n1 n2 --take-over", "deleted")
}

// What is not a public key stays on this machine.
func TestNoPrivateKeyIsSent(t *testing.T) {
	var sent atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); len(body) > 0 {
			sent.Store(new(r.URL.Path))
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "id"),
		"-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n")
	write(t, filepath.Join(folder, "ssh2"), "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n")
	write(t, filepath.Join(folder, "path"), "~/.ssh/id_ed25519.pub\n")
	write(t, filepath.Join(folder, "n1.yml"),
		"node: n1\nimage: v1\nauthorized_keys: [\"-----BEGIN RSA PRIVATE KEY-----\"]\n")
	for line, want := range map[string]string{
		"bind n1 --image v1 --keys " + folder + "/id":   "/id: line 1 is a private key",
		"bind n1 --image v1 --keys " + folder + "/ssh2": "/ssh2: line 1 is a key in the format of RFC 4716",
		"bind n1 --image v1 --keys " + folder + "/path": "/path: line 1 is not an SSH public key",
		"bind -f " + folder + "/n1.yml":                 "n1: authorized key 1 is a private key",
		"rescue n1 --key " + folder + "/id":             "/id: line 1 is a private key",
	} {
		got := sledctl(t, server.URL, "", strings.Fields(line)...)
		if got.code != exitUsage || !strings.Contains(got.err, want) || sent.Load() != nil {
			t.Errorf("sledctl %s: exit %d, %q, want %q; sent to %v", line, got.code, got.err, want, sent.Load())
		}
	}
}

func TestKeysAndUserData(t *testing.T) {
	s := begin(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("#!mine\n"+sshkeys.Alice+" me\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.does(exitDone, "bind n1 --wipe-only --keys "+file+" --user-data "+file, "n1")
	s.does(exitDone, "binding get n1 -o json", `"`+sshkeys.Alice+` me"`)
	kept := s.does(exitDone, "binding get n1 -o yaml", "user_data_sha256: hmac-sha256:").out
	s.does(exitDone, "bind n1 --wipe-only --boot reboot", "reboot")
	s.does(exitDone, "binding get n1 -o json", `"user_data_sha256": "hmac-sha256:`)
	written := filepath.Join(t.TempDir(), "binding.yaml")
	if err := os.WriteFile(written, []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "bind -f "+written, "n1")
	s.does(exitDone, "binding get n1 -o json", `"user_data_sha256": "hmac-sha256:`)
	s.does(exitDone, "bind n1 --wipe-only --user-data=", "n1")
	s.does(exitUsage, "bind -f "+written, "n1 has user data of which the file has only the hash")
	if got := s.does(exitDone, "binding get n1 -o json", `"generation": 1`); !strings.Contains(got.out, "ssh-ed25519") {
		t.Errorf("the keys went with the user data: %s", got.out)
	}
}

func TestOperators(t *testing.T) {
	s := begin(t)
	made := s.does(exitDone, "operator create ci --role read", "")
	s.does(exitConflict, "operator create ci --role admin", "delete it first")
	s.does(exitDone, "operator list", "ci")
	ci := strings.TrimSpace(made.out)
	s.does(exitDone, "node list --token "+ci, "NAME")
	s.does(exitDenied, "node apply 52:54:00:77:00:01 --name n1 --token "+ci, "")
	s.does(exitDone, "operator delete ci", "deleted")
	s.does(exitDenied, "node list --token "+ci, "")
}

func TestEventsAreFollowed(t *testing.T) {
	s := begin(t)
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	ctx, stop := context.WithTimeout(t.Context(), patience.Limit)
	defer stop()
	lines, writer := io.Pipe()
	ended := make(chan int)
	go func() {
		environment := map[string]string{"SLED_SERVER": s.URL, "SLED_TOKEN": token}
		code := Run(ctx, []string{"events", "-f", "n1", "-o", "json"}, System{
			Printer: show.Printer{Out: writer, Err: io.Discard, Now: time.Now},
			Getenv:  func(name string) string { return environment[name] }})
		_ = writer.CloseWithError(io.EOF)
		ended <- code
	}()
	seen := make([]byte, 4096)
	read := func(want string) {
		n, err := lines.Read(seen)
		if err != nil || !strings.Contains(string(seen[:n]), want) {
			t.Errorf("followed %q, %v; want %q", seen[:n], err, want)
		}
	}
	read(`"kind":"declare"`)
	s.does(exitDone, "bind n1 --wipe-only", "n1")
	read(`"kind":"bind"`)
	stop()
	go func() { _, _ = io.Copy(io.Discard, lines) }() // nobody may be left writing
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d", code)
	}
}
