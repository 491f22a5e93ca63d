// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// tornDown is a sledd with the records of a node whose one disk was wiped, and the other left out.
func tornDown(t *testing.T) *sleddtest.Sledd {
	t.Helper()
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=2 verb=wipe")
	m.Report("erasure result=good disk=sda serial=S1 wwn=0x5 path= model=M bytes=4294967296 sector=512 level=empty "+
		"method=discard verify=sample read=37748736 seconds=1 samples=1024 seed="+strings.Repeat("0a", 32),
		"erasure result=left disk=sdb serial=K wwn= path= model= bytes=1 sector=512 reason=on%20the%20keep%20list",
		"end step=1 verb=wipe code=0 seconds=1")
	return s
}

func TestErasures(t *testing.T) {
	folder, s := t.TempDir(), tornDown(t)
	records, key, page := filepath.Join(folder, "records"), filepath.Join(folder, "key"), filepath.Join(folder, "page")
	exported, public := sledctl(t, s.URL, "", "erasure", "export"), sledctl(t, s.URL, "", "erasure", "key")
	write(t, records, exported.out)
	write(t, key, public.out)
	changed := strings.Replace(exported.out, `"serial":"S1"`, `"serial":"S2"`, 1)
	lines := strings.SplitAfter(exported.out, "\n")
	for _, c := range []struct {
		args []string
		in   string
		code int
		want string
	}{
		{[]string{"erasure", "list"}, "", exitDone, "discard"},
		{[]string{"erasure", "list", "n1", "--result", "left"}, "", exitDone, "K"},
		{[]string{"erasure", "list", "n2"}, "", exitDone, "NUMBER"},
		{[]string{"erasure", "show", "1"}, "", exitDone, "with 95 %"},
		{[]string{"erasure", "show", "3"}, "", exitFailed, "there are 2"},
		{[]string{"erasure", "show", "2"}, "", exitDone, "left out"},
		{[]string{"erasure", "show", "0"}, "", exitUsage, "sledctl erasure list"},
		{[]string{"erasure", "show", "x"}, "", exitUsage, "sledctl erasure list"},
		{[]string{"erasure", "show", "1", "--page", page}, "", exitDone, ""},
		{[]string{"erasure", "verify"}, "", exitDone, "2 records"},
		{[]string{"erasure", "verify", records, "--key", key}, "", exitDone, "2 records"},
		{[]string{"erasure", "verify", "-", "--key", key}, changed, exitForged, "line 1"},
		{[]string{"erasure", "verify", "-", "--key", key}, lines[1] + lines[2], exitForged, "taken out"},
		{[]string{"erasure", "verify", "-", "--key", key}, lines[0] + lines[2], exitForged, "taken out"},
		{[]string{"erasure", "verify", "-", "--key", key}, "", exitForged, "cut"},
		{[]string{"erasure", "verify", records, "--key", records}, "", exitForged, "PUBLIC KEY"},
		{[]string{"erasure", "verify", "none", "--key", key}, "", exitUsage, "none"},
	} {
		if r := sledctl(t, s.URL, c.in, c.args...); r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%v: %d %s%s", c.args, r.code, r.out, r.err)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Erase record 1") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestNoByteOfARecordCanBeChanged, and no record taken out, of what was exported before the node was deleted and after.
func TestNoByteOfARecordCanBeChanged(t *testing.T) {
	key, s := filepath.Join(t.TempDir(), "key"), tornDown(t)
	write(t, key, sledctl(t, s.URL, "", "erasure", "key").out)
	before := sledctl(t, s.URL, "", "erasure", "export").out
	for _, words := range [][]string{{"unbind", "n1", "--yes"}, {"node", "delete", "n1", "--yes"}} {
		if r := sledctl(t, s.URL, "", words...); r.code != exitDone {
			t.Fatalf("%v: %+v", words, r)
		}
	}
	exported := sledctl(t, s.URL, "", "erasure", "export").out
	if exported != before || strings.Count(exported, "\n") != 3 {
		t.Fatalf("the records of a node that was deleted\n%s\nbefore\n%s", exported, before)
	}
	verify := func(text, what string, want int) {
		if r := sledctl(t, s.URL, text, "erasure", "verify", "-", "--key", key); r.code != want {
			t.Errorf("%s: code %d, %s%s", what, r.code, r.out, r.err)
		}
	}
	verify(exported, "as exported", exitDone)
	for i := range len(exported) {
		changed := []byte(exported)
		changed[i] ^= 1
		verify(string(changed), fmt.Sprintf("byte %d altered", i), exitForged)
	}
	lines := strings.SplitAfter(exported, "\n")
	for i := range lines[:3] {
		rest := slices.Delete(slices.Clone(lines), i, i+1)
		verify(strings.Join(rest, ""), fmt.Sprintf("line %d taken out", i+1), exitForged)
	}
}
