// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// TestAFullDiskTakesNoWrites: etcd would end the process at the first one.
func TestAFullDiskTakesNoWrites(t *testing.T) {
	etcd, err := Embed(t.Context(), Embedded{Dir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	put := Transaction{Do: []Operation{{Key: "/k"}}}
	for _, c := range []struct {
		reserve int64
		full    bool
	}{{reserve, false}, {math.MaxInt64, true}, {reserve, false}} {
		etcd.reserve = c.reserve
		if _, err := etcd.Commit(t.Context(), put); errors.Is(err, ErrDiskFull) != c.full || err != nil && !c.full {
			t.Errorf("%d bytes are kept free: %v", c.reserve, err)
		}
		patience.Until(t, fmt.Sprintf("alarm %s: %v", Disk, c.full), func() bool {
			usage, err := etcd.Usage(t.Context())
			return err == nil && slices.Contains(usage.Alarms, Disk) == c.full
		})
		if _, err := etcd.Read(t.Context(), Key("/k")); err != nil {
			t.Errorf("%d bytes are kept free: %v", c.reserve, err)
		}
	}
}
