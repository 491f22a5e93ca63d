// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

func TestADataDirectoryIsMadeAtOnceOrNotAtAll(t *testing.T) {
	dir, failed := t.TempDir(), errors.New("nodes could not be held")
	fill := func(err error) func(string) error {
		return func(to string) error { return errors.Join(os.Mkdir(filepath.Join(to, "member"), 0o700), err) }
	}
	if err := store.Make(dir, fill(failed)); !errors.Is(err, failed) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("after a failure there are %v, %v", left, err)
	}
	if err := store.Make(dir, fill(nil)); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "member" {
		t.Errorf("there are %v, %v", left, err)
	}
	if err := store.Make(dir, fill(nil)); err == nil || !strings.Contains(err.Error(), "holds a store") {
		t.Errorf("a second store: %v", err)
	}
}
