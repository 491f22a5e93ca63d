// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sled-fleet/sled/sledd/api"
)

// mostOfFilesystem is the share of a filesystem, in percent, that may be in use before an upload if there is no quota.
const mostOfFilesystem = 90

// Uploads is the room for captured images and files of jobs on this machine, where the web server in front stores them.
type Uploads struct {
	Directory string // empty: not known, nothing is refused
	Quota     int64  // bytes of all files; 0: a share of the filesystem

	measuring sync.Mutex
	measured  time.Time // when full was found out
	full      error     // why there is no room for files of jobs
}

// mostOfCapture is how many files of one capture there may be before an upload. More than one is allowed, because what
// followed the first upload may have failed. The web server limits how many run side by side.
const mostOfCapture = 4

// room refuses an upload for which there is no room. stem is how the names of the files of its capture begin.
func (u *Uploads) room(stem string) error {
	if u.Directory == "" {
		return nil
	}
	entries, err := os.ReadDir(u.Directory)
	if err != nil {
		return fmt.Errorf("room for captured images: %w", err)
	}
	if made := countOf(entries, stem); made >= mostOfCapture {
		return fmt.Errorf("%d uploads of this capture are in %s (%s*), at most %d are allowed: delete them",
			made, u.Directory, stem, mostOfCapture)
	}
	return u.withinLimit()
}

// withinLimit refuses an upload above the quota, or that share of the filesystem.
func (u *Uploads) withinLimit() error {
	if u.Quota > 0 {
		return u.withinQuota()
	}
	var found unix.Statfs_t
	if err := unix.Statfs(u.Directory, &found); err != nil {
		return fmt.Errorf("room for captured images: %s: %w", u.Directory, err)
	}
	if used := inUse(found); used > mostOfFilesystem {
		return fmt.Errorf("%d%% of the filesystem of %s are in use, an upload needs at most %d%%: delete captured images",
			used, u.Directory, mostOfFilesystem)
	}
	return nil
}

// countOf is the number of files whose names begin with stem.
func countOf(entries []fs.DirEntry, stem string) int {
	count := 0
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), stem) {
			count++
		}
	}
	return count
}

// inUse is the share of a filesystem that is in use, in percent, rounded up, as df prints it: blocks that are reserved
// count neither as free nor as used.
func inUse(found unix.Statfs_t) uint64 {
	used := found.Blocks - found.Bfree
	all := max(used+found.Bavail, 1)
	return (100*used + all - 1) / all
}

func (u *Uploads) withinQuota() error {
	used, err := sizeBelow(u.Directory)
	if err != nil {
		return fmt.Errorf("room for captured images: %w", err)
	}
	if used >= u.Quota {
		return fmt.Errorf("the captured images and files of jobs in %s have %d MiB, the quota is %d MiB "+
			"(sledd --upload-quota): delete some", u.Directory, used>>20, u.Quota>>20)
	}
	return nil
}

// largestImage is the size that the image of a node's disk can have: that of its largest disk, and a tenth for what
// does not compress; 0 if its disks are not known.
func largestImage(facts *api.Facts) int64 {
	if facts == nil {
		return 0
	}
	var largest int64
	for _, disk := range facts.Disks {
		if size, err := strconv.ParseInt(disk["bytes"].String(), 10, 64); err == nil {
			largest = max(largest, size)
		}
	}
	return largest + largest/10
}
