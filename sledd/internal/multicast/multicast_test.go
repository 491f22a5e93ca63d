// SPDX-License-Identifier: Apache-2.0

package multicast_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/multicast"
)

var digest = strings.Repeat("8f", 32)

var told = "sender rate=700000 from=2 limited=7 refused_size=0 refused_tag=5\n" +
	"session image=a%20b.zst digest=" + digest + " interface=eth0 group=239.192.1.2 sending=1 receivers=8 rate=350000" +
	" symbols=1000 data=1000 repairs=20 needs=99 done=3 rejected=1 multicast=5 http=6 later=1\n"

func TestStateIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, []byte(told), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := multicast.File(path).Read(time.Now())
	if err != nil || !found.Running || found.Rate != 700000 || found.Refused["tag"] != 5 || found.Refused["limited"] != 7 {
		t.Fatalf("%+v %v", found, err)
	}
	s := found.Sessions[0]
	if s.Image.String() != "a b.zst" || s.Digest.String() != "sha256:"+digest || !s.Sending || s.Receivers != 8 ||
		s.Copies != 1.02 || s.Bytes != 1020*1408 || s.Repairs != 20*1408 || s.Done != 3 || s.HTTP != 6 {
		t.Errorf("%+v", s)
	}
	old, err := multicast.File(path).Read(time.Now().Add(time.Minute))
	if err != nil || old.Running || len(old.Sessions) != 0 {
		t.Errorf("a sender that was killed: %+v %v", old, err)
	}
}

func TestNoSender(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none")} {
		found, err := multicast.File(path).Read(time.Now())
		if err != nil || found.Running || found.Sessions == nil {
			t.Errorf("%q: %+v %v", path, found, err)
		}
	}
}

func TestOtherTextIsNoState(t *testing.T) {
	for _, text := range []string{"", "sender rate=1", "sender  rate=1\n", "Session\n",
		"session image=a digest=80ff\n",
		"session image=%1B[2J digest=" + digest + "\n", "session image=%FF digest=" + digest + "\n",
		"session image=a group=%E2%80%AE digest=" + digest + "\n",
		"session image=a interface=" + strings.Repeat("x", 300) + " digest=" + digest + "\n",
		strings.Repeat("session image=a interface=eth0 digest="+digest+"\n", 2)} {
		if found, err := multicast.Parse(text); err == nil {
			t.Errorf("%q: %+v", text, found)
		}
	}
	found, err := multicast.Parse("sender rate=x\nsession image=a symbols=0 data=5 digest=" + digest + "\n")
	if err != nil || found.Rate != 0 || found.Sessions[0].Copies != 0 {
		t.Errorf("%+v %v", found, err)
	}
}

func TestStateThatIsTooLargeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	text := "sender rate=1\n" + strings.Repeat("later a=1\n", 20_000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := multicast.File(path).Read(time.Now()); err == nil || !strings.Contains(err.Error(), "131072 bytes") {
		t.Errorf("%+v %v", found, err)
	}
}
