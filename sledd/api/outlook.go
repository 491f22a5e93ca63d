// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"strconv"
)

// Outlook is what a request would make of a node: the answer to a dry run.
type Outlook struct {
	Node       string   `json:"node" doc:"Name of the node"`
	Changed    bool     `json:"changed" doc:"Whether anything would be stored"`
	Wipes      string   `json:"wipes,omitempty" doc:"The disk whose content would be lost, in a line for people; absent: none" example:"n1: serial:S123 (PM9A3, 1.9 TB), generation 1 -> 2, image A -> B"`
	Memory     bool     `json:"memory,omitempty" doc:"True if the image runs from memory: the disks of the node are left as they are"`
	Kind       string   `json:"kind,omitempty" doc:"Kind of an image that runs from memory, for people" example:"kernel, multiboot"`
	Bytes      int64    `json:"bytes,omitempty" doc:"Size of an image that runs from memory"`
	Warning    string   `json:"warning,omitempty" doc:"Why the node waits for an operator after a power cut, in a line for people; absent: it runs again by itself, or has an image on its disk" example:"it has keys, so after a power cut it waits for an operator: its console is not recorded (docs/admission.md)"`
	When       string   `json:"when,omitempty" enum:"now,next_boot,after_detour" doc:"When the node would act on it: now, as it waits in the Sled system, at its next boot, or at the boot after its detour; absent: the generation does not rise"`
	Why        []string `json:"why,omitempty" enum:"first,image,capture,disk,partition,configure,grow,kernel,wipe,wipe_method,verify,handover,seed,reimage" doc:"Why the generation would rise: first: the node is not bound. reimage: it was requested. Else what changes"`
	Before     int64    `json:"before" doc:"Generation before: of the binding, without one that of the last plan; 0: none yet"`
	Generation int64    `json:"generation" doc:"Generation afterwards; 0: not bound"`
	Had        string   `json:"had,omitempty" doc:"Image before: of the binding, without one that on the disk"`
	Image      string   `json:"image,omitempty" doc:"Image afterwards"`
	Disk       string   `json:"disk,omitempty" doc:"Selector of the disk that the binding is about; all: without an image, all disks are wiped but those that the node keeps"`
	Partition  string   `json:"partition,omitempty" doc:"The one partition of that disk whose content would be lost: every byte outside of it stays; absent: all of the disk"`
	Disks      []Disk   `json:"disks,omitempty" doc:"Disks of the node that match the selector, as last reported. Only one that is the only one is ever written"`
	Unmatched  bool     `json:"unmatched,omitempty" doc:"The selector matches no disk that the node has reported"`
}

// Match sets the disks that the selector of the outlook means among those that the node has reported.
func (o *Outlook) Match(keep []string, reported []Disk) {
	o.Disks = Matching(o.Disk, keep, reported)
	o.Unmatched = len(o.Disks) == 0 && len(reported) > 0
}

// When a node would act on a change.
const (
	Now         = "now"
	NextBoot    = "next_boot"
	AfterDetour = "after_detour"
)

// When is when a node of this phase would act on another generation. detoured: it has a detour, requested or entered.
func When(phase Phase, detoured bool) string {
	switch {
	case detoured:
		return AfterDetour
	case phase == Idle, phase == Wiped, phase == Failed:
		return Now
	}
	return NextBoot
}

// Again reports whether a node that had a plan before would be imaged or wiped again. A first image is none.
func (o Outlook) Again() bool { return o.Wipes != "" && o.Before > 0 }

// AllDisks stands for a selector where a node is only wiped: all of its disks but those that it keeps.
const AllDisks = "all"

// WipesAll reports whether a binding wipes all disks of the node.
func (b BindingSpec) WipesAll() bool { return b.Image == "" && b.Capture == "" }

// WipeText is one line for people: which disk is lost, or which of its partitions, from which generation to which, and
// from which image to which. Generation 0 afterwards: it is not known yet. The facts of the node, if there are any,
// identify the disk.
func (o Outlook) WipeText() string {
	disk := cmp.Or(o.Disk, "no disk is named")
	if disk == AllDisks {
		disk = "all disks"
	}
	switch len(o.Disks) {
	case 0:
		if o.Unmatched {
			disk += " (matches no disk that it has reported)"
		}
	case 1:
		disk = o.Disks[0].String()
	default:
		if o.Disk == AllDisks {
			disk = fmt.Sprintf("all %d disks %v", len(o.Disks), o.Disks)
			break
		}
		disk += fmt.Sprintf(" (matches %d disks)", len(o.Disks))
	}
	if o.Partition != "" && o.Disk != AllDisks {
		disk = fmt.Sprintf("partition %s of %s, whose other bytes stay", o.Partition, disk)
	}
	generation := "a later one"
	if o.Generation > 0 {
		generation = strconv.FormatInt(o.Generation, 10)
	}
	return fmt.Sprintf("%s: %s, generation %d -> %s, image %s -> %s", o.Node, disk, o.Before, generation,
		cmp.Or(o.Had, "none"), cmp.Or(o.Image, "none"))
}
