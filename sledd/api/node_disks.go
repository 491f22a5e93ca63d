// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// NodeDisks is what a selector means on a node.
type NodeDisks struct {
	Node    string     `json:"node" doc:"Name of the node, or its MAC"`
	Match   string     `json:"match,omitempty" doc:"The selector; all: a wipe of all disks that are not kept. Absent: neither the binding nor the node has one"`
	Keep    []string   `json:"keep,omitempty" doc:"Selectors of disks that are never written"`
	Time    time.Time  `json:"time" doc:"When the disks were reported"`
	BootID  Identifier `json:"boot_id" doc:"The boot that reported them. A plan for another boot waits for its facts"`
	Planned string     `json:"planned,omitempty" doc:"The selector that a plan has: the identity of the disk that is chosen"`
	Refused string     `json:"refused,omitempty" doc:"Why there is no plan"`
	Disks   []NodeDisk `json:"disks" nullable:"false"`
}

// NodeDisk is a disk, and what a selector makes of it.
type NodeDisk struct {
	Disk
	Chosen bool   `json:"chosen"`
	Why    string `json:"why,omitempty" doc:"Why it is not chosen"`
}
