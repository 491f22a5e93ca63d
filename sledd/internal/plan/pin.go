// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// NamesDisks reports whether a step of the plan names a disk.
func (p Plan) NamesDisks() bool {
	return slices.ContainsFunc(p.Steps, namesDisk)
}

func namesDisk(step operand.Line) bool {
	_, one := step.Get("disk")
	_, several := step.Get("disks")
	return one || several
}

// Disk is the selector of the disk that the plan is about, or "all"; empty: it names none. Data disks are beside that.
func (p Plan) Disk() string {
	for _, step := range p.Steps {
		if step.Word == layout {
			continue
		}
		for _, key := range []string{"disk", "disks"} {
			if selector, found := step.Get(key); found {
				return selector
			}
		}
	}
	return ""
}

// pin names each disk of the plan by its identity (contract/plan.md, "Pinned disks"), or returns why a selector or a
// keep list does not resolve with the disks of the node. All steps keep the data disks but those that make them, or
// come before that.
func (p Plan) pin(table disk.Table) (Plan, error) {
	data, err := p.pinData(table)
	if err != nil {
		return Plan{}, err
	}
	pinned := p
	pinned.Steps = slices.Clone(p.Steps)
	for i, step := range pinned.Steps {
		step.Operands = slices.Clone(step.Operands)
		for j, pair := range step.Operands {
			if pair.Key != "disk" && pair.Key != "disks" {
				continue
			}
			if step.Word != layout && i >= p.firstLayout() {
				if err := data.refuse(pair.Value, table, kept(step)); err != nil {
					return Plan{}, err
				}
			}
			identity, err := identities(table, step, pair.Value)
			if err != nil {
				return Plan{}, err
			}
			step.Operands[j].Value = identity
		}
		if i >= p.firstLayout() {
			data.keepIn(&step)
		}
		pinned.Steps[i] = step
	}
	return pinned, check(pinned)
}

func kept(step operand.Line) []string {
	if keep, found := step.Get("keep"); found {
		return strings.Split(keep, ";")
	}
	return nil
}

// identities returns those of the disks that selectors joined by semicolons mean. All disks stay all: one that is
// late is wiped too.
func identities(table disk.Table, step operand.Line, selectors string) (string, error) {
	taken, err := table.Take(selectors, kept(step))
	loses := step.Word == "wipe" || step.Word == "write" && !namesPartition(step)
	if disk.KindOf(err) == disk.Half && !loses { // nothing is lost, or the node knows whether the partition is in the set
		err = nil
	}
	if err != nil || selectors == "all" {
		return selectors, err //nolint:wrapcheck // states the selector and the reason
	}
	var found []string
	for _, chosen := range taken {
		identity, err := table.Pin(chosen)
		if err != nil {
			return "", err //nolint:wrapcheck // likewise
		}
		found = append(found, identity)
	}
	return strings.Join(found, ";"), nil
}
