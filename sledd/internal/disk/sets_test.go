// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/disk"
)

// No choice of disks, by name or all of them, some of them kept, takes a part of a set.
func TestNoChoiceHalvesASet(t *testing.T) {
	sets := []string{"", "md:1", "lvm:1", "md:1,zfs:1"}
	taken := 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, seed))
		var table disk.Table
		var keep, named []string
		for i := range 8 {
			table = append(table, reported(fmt.Sprintf("name=sd%d serial=%d bytes=1000 transport=sata readonly=%d set=%s", i, i,
				1-min(random.IntN(9), 1), sets[random.IntN(len(sets))])))
			switch random.IntN(3) {
			case 0:
				keep = append(keep, fmt.Sprintf("serial:%d", i))
			case 1:
				named = append(named, fmt.Sprintf("serial:%d", i))
			}
		}
		if random.IntN(3) == 0 || len(named) == 0 {
			named = []string{"all"}
		}
		chosen, err := table.Take(strings.Join(named, ";"), keep)
		if err != nil {
			continue
		}
		taken += len(chosen)
		for _, d := range table {
			for _, one := range chosen {
				for set := range strings.SplitSeq(d.Sets, ",") {
					if set != "" && !slices.Contains(chosen, d) && slices.Contains(strings.Split(one.Sets, ","), set) {
						t.Errorf("seed %d: %s is taken without %s of %s", seed, one.Name, d.Name, set)
					}
				}
			}
		}
	}
	if taken == 0 {
		t.Error("no disk was ever taken")
	}
}

// Only the node knows partitions: an entry of a keep list that names one is left to it, and keeps nothing here.
func TestAPartitionIsLeftToTheNode(t *testing.T) {
	table := disk.Table{nvme(0, "A", meant), nvme(1, "B", data)}
	keep := []string{"part-label:data,serial:NONE", "part-uuid:6f0c2a1b"}
	if chosen, err := table.Choose("serial:A", keep); err != nil || chosen.Name != "nvme0n1" {
		t.Errorf("%v, %v", chosen, err)
	}
	if taken, err := table.Take("all", keep); err != nil || len(taken) != 2 {
		t.Errorf("%v, %v", taken, err)
	}
	if _, err := table.Choose("serial:A", append(keep, "serial:NONE")); disk.KindOf(err) != disk.Keep {
		t.Error(err)
	}
}
