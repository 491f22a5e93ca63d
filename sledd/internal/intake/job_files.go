// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/report"
)

// endOfPayload returns how a payload ended, if a report has that.
func endOfPayload(sent report.Report) *report.Ran {
	for _, line := range sent.Lines {
		if line.Ran != nil {
			return line.Ran
		}
	}
	return nil
}

// missingFiles returns what of the files of a job the boot server has refused, or the first difference between what has
// arrived there and what its node has sent; empty: there is none, or it is not known, because sledd has no
// --upload-directory or the files went to another boot server. Nothing is read for anybody but the node that runs the
// job.
func (in *Intake) missingFiles(ctx context.Context, mac, bearer string, sent report.Report) (string, error) {
	ran := endOfPayload(sent)
	if ran == nil || in.Uploads.Directory == "" && ran.Missing == "" {
		return "", nil
	}
	tx, err := in.load(ctx, mac)
	if err != nil || !tx.ofJob(sent) {
		return "", err
	}
	if _, err := tx.authenticateReport(bearer, sent); err != nil {
		return "", err
	}
	here := strings.HasPrefix(tx.Job().Upload, in.UploadURL+"/")
	if ran.Missing != "" {
		refused := "the boot server has not taken all of " + ran.Missing
		if full := in.Uploads.jobRoom(tx.Now); here && full != nil {
			refused += ": " + full.Error()
		}
		return refused, nil
	}
	if !here {
		return "", nil
	}
	folder := filepath.Join(in.Uploads.Directory, "jobs", tx.Job().ID)
	for _, one := range []struct {
		name, stream string
		sent         report.Stream
	}{{"standard output", "out", ran.Output}, {"standard error", "err", ran.Errors},
		{"artefacts", "files", ran.Artefacts}} {
		if one.sent.Bytes == 0 {
			continue
		}
		came, err := sumOf(folder, one.stream)
		switch {
		case err != nil:
			return fmt.Sprintf("the %s cannot be compared: %v", one.name, err), nil
		case came.Bytes != one.sent.Bytes:
			return fmt.Sprintf("of the %s %d of %d bytes have arrived", one.name, came.Bytes, one.sent.Bytes), nil
		case came.SHA256 != one.sent.SHA256:
			return fmt.Sprintf("the %s has another SHA-256 than was sent", one.name), nil
		}
	}
	return "", nil
}

// sumOf returns size and digest of a stream: of its segments in the folder, joined in order.
func sumOf(folder, stream string) (report.Stream, error) {
	names, err := filepath.Glob(filepath.Join(folder, stream+".[0-9][0-9][0-9][0-9][0-9][0-9]"))
	if err != nil {
		return report.Stream{}, err //nolint:wrapcheck // of our own pattern: cannot happen
	}
	slices.Sort(names)
	sum := sha256.New()
	var size int64
	for _, name := range names {
		file, err := os.Open(name) //nolint:gosec // below the folder of uploads
		if errors.Is(err, fs.ErrNotExist) {
			continue // aged meanwhile
		}
		if err != nil {
			return report.Stream{}, fmt.Errorf("output of a job: %w", err)
		}
		n, err := io.Copy(sum, file)
		_ = file.Close()
		if size += n; err != nil {
			return report.Stream{}, fmt.Errorf("output of a job: %w", err)
		}
	}
	return report.Stream{Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
