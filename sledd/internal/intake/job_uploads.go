// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// measuredFor is how long the size of all files of jobs is used. Each job asks once a second.
const measuredFor = 10 * time.Second

// MayPutJobFile refuses a file of a job, unless it comes from the node that runs this job now.
func (in *Intake) MayPutJobFile(ctx context.Context, bearer, job string) error {
	owner, formed := token.Owner(bearer)
	address, err := mac.FromPlain(owner)
	if !formed || err != nil {
		return refusal.New(refusal.Unauthorized, "the token is not one of a node")
	}
	return in.update(ctx, address, nil, func(tx *nodeTx) error {
		if _, err := tx.authenticate(bearer, token.Boot, anyAge); err != nil {
			return err
		}
		if tx.Job() == nil || tx.Job().ID != job || tx.Job().State != api.JobRunning {
			return refusal.New(refusal.Forbidden, "node %s does not run job %s", address, job)
		}
		if full := in.Uploads.jobRoom(tx.Now); full != nil {
			return refusal.New(refusal.Forbidden, "node %s may not upload: %v", address, full)
		}
		return nil
	})
}

// jobRoom refuses a file of a job for which there is no room.
func (u *Uploads) jobRoom(now time.Time) error {
	if u.Directory == "" {
		return nil
	}
	u.measuring.Lock()
	defer u.measuring.Unlock()
	if now.Sub(u.measured) >= measuredFor || now.Before(u.measured) {
		u.measured, u.full = now, u.withinLimit()
	}
	return u.full
}

// sizeBelow is the size of all files below a directory; those that are deleted meanwhile, or do not exist, have none,
// and neither have folders that only the web server reads, where uploads arrive.
func sizeBelow(directory string) (int64, error) {
	var size int64
	err := filepath.WalkDir(directory, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info os.FileInfo
			if info, err = entry.Info(); err == nil {
				size += info.Size()
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrPermission) && entry != nil && entry.IsDir():
			return fs.SkipDir
		}
		return err
	})
	return size, err //nolint:wrapcheck // names the file
}
