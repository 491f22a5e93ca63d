// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

const layout = "layout" // the step

// Folders of the system disk that the installed system needs, or that Sled writes: with all that is below, or alone.
var (
	systemTrees = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/root",
		"/run", "/sbin", "/sys", "/tmp", "/usr", "/var/lib/cloud", "/var/lib/systemd"}
	systemFolders = []string{"/var", "/var/lib"}
)

// CheckMount checks where a data disk is mounted. It hides no part of the installed system.
func CheckMount(path string) error {
	if err := checkMount(path); err != nil {
		return err
	}
	for _, tree := range systemTrees {
		if path == tree || strings.HasPrefix(path, tree+"/") {
			return fmt.Errorf("%s is part of the installed system: choose a folder such as /srv/NAME", path)
		}
	}
	if slices.Contains(systemFolders, path) {
		return fmt.Errorf("%s is part of the installed system: choose a folder below it", path)
	}
	return nil
}

// CheckDataDisks checks the data disks of a node. The error is about the one with the index.
func CheckDataDisks(list []api.DataDisk) (int, error) {
	for i, d := range list {
		for _, err := range []error{checkDataName(d.Name), CheckSelector(d.Disk), CheckMount(d.Mount)} {
			if err != nil {
				return i, err
			}
		}
		for _, other := range list[:i] {
			if other.Name == d.Name || other.Mount == d.Mount {
				return i, fmt.Errorf("data disk %s: an earlier one has the same name or mount point", d.Name)
			}
		}
	}
	return 0, nil
}

// DataDiskID is the GUID of the table of a data disk (contract/plan.md, "Data disks").
func DataDiskID(node, name string) string {
	sum := sha256.Sum256([]byte("sled data disk 1\n" + node + "\n" + name))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// layouts adds the steps of the data disks, in front of all that loses something.
func (p *Plan) layouts(node api.NodeSpec) {
	for _, d := range node.DataDisks {
		target := append([]operand.Pair{{Key: "disk", Value: d.Disk}}, keeping(node.KeepDisks)...)
		p.add(layout, target, "name", d.Name, "id", DataDiskID(node.Name, d.Name),
			"filesystem", first(d.Filesystem, "ext4"), "mount", d.Mount)
	}
}

// blank adds the step that zeroes data disks which were overwritten, so that they get a layout again.
func (p *Plan) blank(node api.NodeSpec) {
	var selectors []string
	for _, d := range node.DataDisks {
		selectors = append(selectors, d.Disk)
	}
	if len(selectors) > 0 {
		target := append([]operand.Pair{{}}, keeping(node.KeepDisks)...)
		p.add("wipe", disks(strings.Join(selectors, ";"), target), "level", defaultWipe)
	}
}

// firstLayout is the number of the first step layout. The steps before it empty the data disks too; 0: there are none.
func (p Plan) firstLayout() int {
	return max(0, slices.IndexFunc(p.Steps, func(step operand.Line) bool { return step.Word == layout }))
}

// dataDisks are the disks of the steps layout, and their identities.
type dataDisks struct {
	disks []disk.Disk
	pins  []string
}

// pinData resolves the data disks of a plan. A foreign one is refused: no tear-down would empty it.
func (p Plan) pinData(table disk.Table) (dataDisks, error) {
	var found dataDisks
	for _, step := range p.Steps {
		if step.Word != layout {
			continue
		}
		name, _ := step.Get("name")
		selector, _ := step.Get("disk")
		chosen, err := table.Choose(selector, kept(step))
		if err != nil {
			return dataDisks{}, fmt.Errorf("data disk %s: %w", name, err)
		}
		if attached := chosen.Foreign(); attached != "" {
			return dataDisks{}, fmt.Errorf("data disk %s: %s (%s) is %s, so a tear-down would not empty it: "+
				"choose a local disk", name, chosen.Name, chosen, attached)
		}
		if slices.ContainsFunc(found.disks, func(d disk.Disk) bool { return d.Name == chosen.Name }) {
			return dataDisks{}, fmt.Errorf("data disk %s: %s (%s) is another data disk already", name, chosen.Name, chosen)
		}
		identity, err := table.Pin(chosen)
		if err != nil {
			return dataDisks{}, fmt.Errorf("data disk %s: %w", name, err)
		}
		found.disks, found.pins = append(found.disks, chosen), append(found.pins, identity)
	}
	return found, nil
}

// DataDisks returns the names of a node's data disks by the kernel's names of the disks that they are on, or why a plan
// with an image would be refused because of them.
func DataDisks(node api.NodeSpec, table disk.Table) (map[string]string, error) {
	var p Plan
	p.layouts(node)
	found, err := p.pinData(table)
	names := map[string]string{}
	for i, d := range found.disks {
		names[d.Name] = node.DataDisks[i].Name
	}
	return names, err
}

// keepIn adds them to the keep list of a step that is about another disk.
func (d dataDisks) keepIn(step *operand.Line) {
	if len(d.pins) == 0 || step.Word == layout || !slices.ContainsFunc(step.Operands, func(pair operand.Pair) bool {
		return pair.Key == "disk" || pair.Key == "disks"
	}) {
		return
	}
	list := slices.Concat(kept(*step), d.pins)
	step.Operands = slices.DeleteFunc(step.Operands, func(pair operand.Pair) bool { return pair.Key == "keep" })
	step.Operands = slices.Insert(step.Operands, 1, keeping(list)...)
}

// refuse states that the disk of an image is a data disk, which the keep list alone would not say.
func (d dataDisks) refuse(selector string, table disk.Table, keep []string) error {
	chosen, err := table.Choose(selector, keep)
	if err == nil && slices.ContainsFunc(d.disks, func(data disk.Disk) bool { return data.Name == chosen.Name }) {
		return fmt.Errorf("disk %s: %s (%s) is a data disk of the node: name another disk for the image", selector,
			chosen.Name, chosen)
	}
	return nil
}
