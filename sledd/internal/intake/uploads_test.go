// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

func TestUploadsWithinTheQuota(t *testing.T) {
	u := &Uploads{Directory: t.TempDir(), Quota: 2 << 20}
	file := filepath.Join(u.Directory, "a.raw.zst")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(u.Directory, ".part"), 0o700); err != nil {
		t.Fatal(err)
	}
	for size, full := range map[int64]bool{2<<20 - 1: false, 2 << 20: true, 3 << 20: true} {
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		err := u.room("b-")
		if (err != nil) != full || full && !strings.Contains(err.Error(), "the quota is 2 MiB") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestUploadsOfOneCapture(t *testing.T) {
	u := &Uploads{Directory: t.TempDir(), Quota: 1 << 20}
	stem := plan.CapturedStem("52-54-00-77-00-01", 3)
	for number := range mostOfCapture + 1 {
		err := u.room(stem)
		if full := number == mostOfCapture; (err != nil) != full ||
			full && !strings.Contains(err.Error(), "4 uploads of this capture are in "+u.Directory+" (52-54-00-77-00-01-3-*)") {
			t.Errorf("%d files: %v", number, err)
		}
		for _, generation := range []int64{2, 3, 33} {
			file := plan.CapturedFile("52-54-00-77-00-01", generation, strings.Repeat(strconv.Itoa(number), 32))
			if err := os.WriteFile(filepath.Join(u.Directory, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// As df: 5 % of a filesystem are often reserved for root.
func TestBlocksThatAreReservedAreNotInUse(t *testing.T) {
	for _, c := range []struct{ blocks, free, available, percent uint64 }{
		{100, 100, 95, 0}, {100, 50, 45, 53}, {252, 181, 21, 78}, {100, 5, 0, 100}, {0, 0, 0, 0},
	} {
		found := unix.Statfs_t{Blocks: c.blocks, Bfree: c.free, Bavail: c.available}
		if got := inUse(found); got != c.percent {
			t.Errorf("%+v: %d %% in use", c, got)
		}
	}
}

func TestUploadsOfADirectoryThatCannotBeRead(t *testing.T) {
	for _, quota := range []int64{0, 1 << 20} {
		u := &Uploads{Directory: "/nowhere", Quota: quota}
		if err := u.room("b-"); err == nil || !strings.Contains(err.Error(), "/nowhere") {
			t.Errorf("quota %d: %v", quota, err)
		}
	}
}

func TestTheLargestImageOfANode(t *testing.T) {
	disk := func(bytes string) map[string]api.Identifier {
		return map[string]api.Identifier{"bytes": nodetext.CleanIdentifier(bytes)}
	}
	facts := &api.Facts{Disks: []map[string]api.Identifier{disk("1000"), disk("2000"), disk("x"), {}}}
	if got := largestImage(facts); got != 2200 || largestImage(nil) != 0 || largestImage(&api.Facts{}) != 0 {
		t.Errorf("got %d", got)
	}
}
