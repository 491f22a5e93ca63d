// SPDX-License-Identifier: Apache-2.0

// Package disk resolves disk selectors (contract/plan.md) with the disks that a node has reported. It is pure; sledc
// has the same rules, and both read contract/vectors/disk/choose.
package disk

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Disk is one disk of a node, or one path of it.
type Disk struct {
	Name      string `json:"name,omitempty" doc:"Name of the kernel; may change at each boot"`
	Serial    string `json:"serial,omitempty"`
	WWN       string `json:"wwn,omitempty"`
	Path      string `json:"path,omitempty"`
	Model     string `json:"model,omitempty"`
	Vendor    string `json:"vendor,omitempty"`
	Transport string `json:"transport,omitempty" doc:"How it is attached; absent: unknown"`
	Bytes     int64  `json:"bytes,omitempty"`
	// Rotational is 0 or 1, as reported.
	Rotational string `json:"rotational,omitempty"`
	ReadOnly   bool   `json:"readonly,omitempty"`
	Sets       string `json:"set,omitempty" doc:"Sets of which it or its partitions are members, as TYPE:ID joined by ,"`
	Hidden     string `json:"hidden,omitempty" doc:"Bytes that it has and does not let anybody address, as KIND:BYTES joined by ,; KIND is hpa, amac or dco"`
	Missing    bool   `json:"missing,omitempty" doc:"Reported by an earlier boot, and not by the newest"`

	excluded string // why it is never a candidate
}

// Read makes a disk of its facts.
func Read(fact func(key string) string) Disk {
	bytes, _ := strconv.ParseInt(fact("bytes"), 10, 64) // 0: without a size
	d := Disk{Name: fact("name"), Serial: fact("serial"), WWN: fact("wwn"), Path: fact("path"), Model: fact("model"),
		Vendor: fact("vendor"), Transport: fact("transport"), Bytes: bytes, Rotational: fact("rotational"),
		ReadOnly: fact("readonly") == "1", Sets: fact("set"), Hidden: fact("hidden")}
	d.excluded = exclude(d.Name, fact("removable") == "1" && mayBeRemoved(d.Transport), bytes)
	return d
}

// String identifies the disk as a selector does, with model and size in parentheses.
func (d Disk) String() string {
	name := "path:" + d.Path
	switch {
	case d.Serial != "":
		name = "serial:" + d.Serial
	case d.WWN != "":
		name = "wwn:" + d.WWN
	}
	if d.Model == "" {
		return fmt.Sprintf("%s (%s)", name, size(d.Bytes))
	}
	return fmt.Sprintf("%s (%s, %s)", name, d.Model, size(d.Bytes))
}

// size of a disk in decimal units, as vendors state it.
func size(bytes int64) string {
	value, units := float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for len(units) > 1 && value >= 1000 {
		value, units = value/1000, units[1:]
	}
	if value < 10 && units[0] != "B" {
		return fmt.Sprintf("%.1f %s", value, units[0])
	}
	return fmt.Sprintf("%.0f %s", value, units[0])
}

var (
	excludedNames = []struct{ prefix, why string }{
		{"loop", "a loop device"}, {"ram", "a RAM disk"}, {"zram", "a RAM disk"}, {"sr", "an optical drive"},
		{"dm-", "a device-mapper device"}, {"md", "an md array"}, {"fd", "a floppy drive"}, {"mtdblock", "raw flash"},
		{"bcache", "a virtual device"}, {"drbd", "a virtual device"}, {"nbd", "a virtual device"},
		{"rbd", "a virtual device"}, {"zd", "a virtual device"},
	}
	mmcPartition = regexp.MustCompile(`^mmcblk.*(boot|rpmb|gp)`)
	nvmePath     = regexp.MustCompile(`^nvme\d+c\d+n\d+`)
)

const (
	removable   = "removable"
	withoutSize = "without a size"
)

func exclude(name string, isRemovable bool, bytes int64) string {
	for _, excluded := range excludedNames {
		if strings.HasPrefix(name, excluded.prefix) {
			return excluded.why
		}
	}
	switch {
	case mmcPartition.MatchString(name):
		return "a hardware partition"
	case nvmePath.MatchString(name):
		return "a path of another disk"
	case isRemovable:
		return removable
	case bytes == 0:
		return withoutSize
	}
	return ""
}

// mayBeRemoved reports whether the kernel's bit means of such a disk that people carry it. Of others it marks a
// hot-swap bay, or the driver sets it for each volume.
func mayBeRemoved(transport string) bool {
	return transport == "" || transport == "usb" || transport == "mmc"
}

// Candidate reports whether a selector may choose the disk.
func (d Disk) Candidate() bool { return d.excluded == "" }

// isDisk reports whether it is a disk of the machine, though perhaps no candidate now: a stick, or a locked disk.
func (d Disk) isDisk() bool {
	return d.Candidate() || d.excluded == removable || d.excluded == withoutSize
}

var (
	local = []string{"nvme", "sata", "sas", "raid", "virtio", "mmc"}
	// foreign disks may be reached by other machines, or moved by people.
	foreign = map[string]string{"usb": "attached by USB", "fc": "attached by Fibre Channel",
		"iscsi": "attached by iSCSI", "nvme-of": "attached by NVMe over fabrics"}
	// multipath transports show each path as a disk.
	multipath = []string{"sas", "fc", "iscsi", "virtio"}
)

// Foreign is how the disk is attached, if other machines may reach it, people move it, or that is not known; empty: it
// is local.
func (d Disk) Foreign() string {
	if d.isLocal() {
		return ""
	}
	return attached(d)
}

func (d Disk) isLocal() bool { return slices.Contains(local, d.Transport) }

// samePhysical reports whether two disks are two paths of one. Equal identities alone are no proof: some USB bridges
// and NVMe drives all have the same.
func samePhysical(a, b Disk) bool {
	return slices.Contains(multipath, a.Transport) && a.Transport == b.Transport && a.WWN != "" && a.WWN == b.WWN &&
		a.Serial != "" && a.Serial == b.Serial && a.Bytes != 0 && a.Bytes == b.Bytes && a.Name != b.Name
}

// shortPath is udev's older name of an ATA disk; empty for others.
func (d Disk) shortPath() string {
	before, after, found := strings.Cut(d.Path, "-ata-")
	port, _, dotted := strings.Cut(after, ".")
	if !found || !dotted {
		return ""
	}
	return before + "-ata-" + port
}

// Missing returns the local disks of before that are not among now, at most 64: those may be late, or have died.
func Missing(before, now []Disk) []Disk {
	var missing []Disk
	for _, old := range before {
		there := func(d Disk) bool { return old.Same(d) }
		if old.Candidate() && old.isLocal() && !slices.ContainsFunc(now, there) &&
			!slices.ContainsFunc(missing, there) && len(missing) < mostMissing {
			old.Missing = true
			missing = append(missing, old)
		}
	}
	return missing
}

const mostMissing = 64

// Same reports whether it is the same disk at another boot, wherever it is attached then.
func (d Disk) Same(other Disk) bool {
	if d.WWN == "" && d.Serial == "" {
		return d.Path == other.Path && d.Bytes == other.Bytes
	}
	return d.WWN == other.WWN && d.Serial == other.Serial
}
