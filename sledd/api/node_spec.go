// SPDX-License-Identifier: Apache-2.0

package api

// NodeSpec is the declaration of a machine by an operator.
type NodeSpec struct {
	MAC          string            `json:"mac" doc:"MAC address of the boot interface, lower case with colons; neither a group address nor zero" pattern:"^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$" example:"52:54:00:77:00:01"`
	MACs         []string          `json:"macs,omitempty" doc:"MACs of further interfaces that the machine may boot from, in the form of mac. A MAC belongs to one node" maxItems:"8" nullable:"false"`
	Name         string            `json:"name" doc:"Unique host name" pattern:"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" example:"n1"`
	Labels       map[string]string `json:"labels,omitempty" doc:"Labels for selection, free to choose" maxProperties:"64"`
	Architecture string            `json:"architecture,omitempty" enum:"x86_64,arm64" doc:"Default x86_64"`
	Flavour      string            `json:"flavour,omitempty" enum:"cloud,generic" doc:"Kernel and drivers of the Sled system; default: the server's setting"`
	Disk         string            `json:"disk,omitempty" doc:"Disk selector for bindings without one (contract/plan.md)" maxLength:"512" example:"serial:LAB-0001"`
	KeepDisks    []string          `json:"keep_disks,omitempty" doc:"Selectors of disks that are never written" maxItems:"16" nullable:"false"`
	DataDisks    []DataDisk        `json:"data_disks,omitempty" doc:"Disks whose data survives images. No image writes them; a tear-down empties them. A change takes effect with the next image" maxItems:"16" nullable:"false"`
	BootOrder    string            `json:"boot_order,omitempty" enum:"keep,disk,network" doc:"What UEFI firmware boots first; set when the node is imaged. Default keep: unchanged"`
	Admission    string            `json:"admission,omitempty" enum:"open,expected,proven,attested" doc:"Least level at which a machine is admitted as the node (contract/admission.md). The site or the binding may require a higher one. Default open"`
	BMC          *BMC              `json:"bmc,omitempty" doc:"Address of its power control, without credentials"`
}

// DataDisk is a disk of a node whose data survives images.
type DataDisk struct {
	Name       string `json:"name" doc:"Name, unique within the node; its partition is sled-NAME" pattern:"^[a-z0-9][a-z0-9-]{0,30}$" example:"logs"`
	Disk       string `json:"disk" doc:"Disk selector (contract/plan.md). Exactly one local disk must match" minLength:"1" maxLength:"512" example:"serial:DATA-0001"`
	Filesystem string `json:"filesystem,omitempty" enum:"ext4,xfs,btrfs" doc:"Filesystem that the installed system makes on a blank disk. Default ext4"`
	Mount      string `json:"mount" doc:"Where the installed system mounts it" minLength:"2" maxLength:"255" example:"/srv/logs"`
}

// BMC is the address of a node's power control. Credentials stay with the playbooks.
type BMC struct {
	Driver  string `json:"driver" pattern:"^[a-z][a-z0-9_]*$" maxLength:"32" doc:"Name of the power driver, which the playbooks know" example:"ipmi"`
	Address string `json:"address,omitempty" doc:"Host name or IP address" maxLength:"255"`
	Port    int    `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"Default: that of the driver"`
}
