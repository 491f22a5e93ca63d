// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestErasures(t *testing.T) {
	folder := t.TempDir()
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
