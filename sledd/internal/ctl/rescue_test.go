// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

func TestRescue(t *testing.T) {
	folder := t.TempDir()
	s := sleddtest.StartWith(t, sleddtest.Options{ConsoleDirectory: folder})
	s.Declare(1)
	public, private := filepath.Join(folder, "a.pub"), filepath.Join(folder, "a")
	write(t, public, "# mine\n"+sshkeys.Alice+" me\n\n")
	write(t, private, "-----BEGIN OPENSSH PRIVATE KEY-----\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"rescue", "n1"}, exitUsage, "no key"},
		{[]string{"rescue", "n1", "--key", private}, exitUsage, "a: line 1 is a private key: give the public key"},
		{[]string{"rescue", "n1", "--end"}, exitNotFound, "not under rescue"},
		{[]string{"rescue", "n1", "--key", public}, exitDone, "n1: under rescue from its next boot on"},
		{[]string{"rescue", "n1", "--key", public, "--wait", "--timeout", "10ms"}, exitFailed,
			"no SSH server on n1 within 10ms"},
	} {
		if r := sledctl(t, s.URL, "", c.args...); r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%v: %d %s%s", c.args, r.code, r.out, r.err)
		}
	}
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=1 verb=rescue",
		"end step=1 verb=rescue code=0 seconds=1 detail=10.77.0.50%20"+
			strings.ReplaceAll(nodetexttest.HostKey, " ", "%20"))
	if r := sledctl(t, s.URL, "", "rescue", "n1", "--key", public, "--wait"); r.code != exitDone ||
		!strings.Contains(r.out, "n1: ssh root@10.77.0.50  host key SHA256:") {
		t.Errorf("%+v", r)
	}
	if r := sledctl(t, s.URL, "", "status"); !strings.Contains(r.out, "rescue") ||
		!strings.Contains(r.out, "ssh root@10.77.0.50") {
		t.Errorf("%+v", r)
	}
	if r := sledctl(t, s.URL, "", "node", "get", "n1"); !strings.Contains(r.out, "ssh root@10.77.0.50") {
		t.Errorf("%+v", r)
	}
	if r := sledctl(t, s.URL, "", "rescue", "n1", "--end"); r.code != exitDone || s.Node(1).Rescue != nil {
		t.Errorf("%+v", r)
	}
}

func TestConsole(t *testing.T) {
	folder := t.TempDir()
	s := sleddtest.StartWith(t, sleddtest.Options{ConsoleDirectory: folder})
	s.Declare(1)
	if r := sledctl(t, s.URL, "", "console", "n1"); r.code != exitNotFound || !strings.Contains(r.err,
		"is not recorded") {
		t.Errorf("%+v", r)
	}
	write(t, filepath.Join(folder, "52-54-00-77-00-01.log"),
		"12:00:00 \x1b[2J\x1b[1;31mLinux\x1b[0m version\x1b(B\r\n12:00:01 \x1b]0;title\x07bell\x07\r\n")
	if r := sledctl(t, s.URL, "", "console", "n1"); r.out != "12:00:00 Linux version\n12:00:01 bell?\n" {
		t.Errorf("%+v", r)
	}
	if r := sledctl(t, s.URL, "", "console", "n1", "--bytes", "40"); r.out != "12:00:01 bell?\n" {
		t.Errorf("%+v", r)
	}
}

func TestAfter(t *testing.T) {
	for _, c := range [][3]string{{"a\nb\nc\n", "a\nb\n", "c\n"}, {"b\nc\n", "a\nb\n", "b\nc\n"}, {"x\n", "", "x\n"},
		{"a\n", "a\n", ""}} {
		if got := after(c[0], c[1]); got != c[2] {
			t.Errorf("after(%q, %q) is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
