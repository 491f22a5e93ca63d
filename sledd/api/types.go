// Package api holds the types of sledd's operator API (v1) and a client for it. It is the one definition: the OpenAPI
// document is generated from these types, and sledctl and the Terraform provider use the client.
package api

import (
	"time"
)

// Phase is what was last observed of a node; never inferred. Empty: declared, but not seen yet.
type Phase string

// NodeSpec is what an operator declares about a machine.
type NodeSpec struct {
	MAC          string            `json:"mac" doc:"MAC of the interface that boots, lower case with colons" pattern:"^([0-9a-f]{2}:){5}[0-9a-f]{2}$" example:"52:54:00:77:00:01"`
	Name         string            `json:"name" doc:"Unique host name" pattern:"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" example:"n1"`
	Labels       map[string]string `json:"labels,omitempty" doc:"Free labels, for selection" maxProperties:"64"`
	Architecture string            `json:"architecture,omitempty" enum:"x86_64,arm64" doc:"Default x86_64"`
	Flavour      string            `json:"flavour,omitempty" enum:"cloud,generic" doc:"Kernel and drivers of the Sled system; default: the server's setting"`
	Disk         string            `json:"disk,omitempty" doc:"Disk selector used when a binding names none (contract/plan.md)" maxLength:"512" example:"serial:LAB-0001"`
	KeepDisks    []string          `json:"keep_disks,omitempty" doc:"Selectors of disks that are never touched" maxItems:"16" nullable:"false"`
	BootOrder    string            `json:"boot_order,omitempty" enum:"keep,disk,network" doc:"What the firmware boots first, on UEFI: set whenever the node is imaged; default keep: whatever it is"`
	BMC          *BMC              `json:"bmc,omitempty" doc:"How to reach its power control; no secrets"`
}

// KeepBootOrder is the boot order that is left as it is; the default.
const KeepBootOrder = "keep"

// OtherBootOrder is what the firmware of a node boots first, as its system said, when another order is declared; else empty.
func (n Node) OtherBootOrder() string {
	said := n.Status.OS
	if said == nil || said.BootOrder == "" || n.BootOrder == "" || n.BootOrder == KeepBootOrder || said.BootOrder == n.BootOrder {
		return ""
	}
	return said.BootOrder
}

// BMC says where a node's power control is. Credentials are the playbooks' business.
type BMC struct {
	Driver  string `json:"driver" enum:"ipmi,redfish,wol,amt,command" doc:"Kind of power control"`
	Address string `json:"address,omitempty" doc:"Name or address" maxLength:"255"`
	Port    int    `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"Default: the driver's"`
}

// Node is a declared or discovered machine with everything known of it.
type Node struct {
	NodeSpec
	Declared bool     `json:"declared" doc:"False for a machine that was only discovered"`
	Revision int64    `json:"revision" doc:"Compare-and-swap number of the declaration; also the ETag"`
	Status   Status   `json:"status"`
	Binding  *Binding `json:"binding,omitempty"`
	Rescue   *Rescue  `json:"rescue,omitempty" doc:"It boots the Sled system for people, whatever is wished of it"`
	Facts    *Facts   `json:"facts,omitempty" doc:"Only in the answer for a single node"`
}

// ImageSpec registers a published image (contract/image.md). Immutable: another content gets another name. Only the signature may be
// added or replaced later.
type ImageSpec struct {
	Name         string            `json:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,127}$" example:"debian-12-v1"`
	Digest       string            `json:"digest" pattern:"^sha256:[0-9a-f]{64}$" doc:"SHA-256 of the index of the image" example:"sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"`
	URLs         []string          `json:"urls" minItems:"1" maxItems:"16" nullable:"false" doc:"Where nodes fetch it; tried in turn" example:"[\"http://10.77.0.1/images/8f3c.raw.zst\"]"`
	Bytes        int64             `json:"bytes" minimum:"512" doc:"Size of the raw disk"`
	FileBytes    int64             `json:"file_bytes" minimum:"1" doc:"Size of the file as served"`
	UsedBytes    int64             `json:"used_bytes,omitempty" minimum:"0" doc:"Bytes of the disk that hold something, as far as known"`
	Signature    string            `json:"signature,omitempty" pattern:"^([A-Za-z0-9+/]{86}==)?$" doc:"Ed25519 signature of the digest, 64 bytes in base64; may be added later"`
	Architecture string            `json:"architecture,omitempty" enum:"x86_64,arm64" doc:"Default x86_64"`
	Labels       map[string]string `json:"labels,omitempty" maxProperties:"64"`
}

// Image is a registered image.
type Image struct {
	ImageSpec
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created"`
}

// Binding is a stored wish.
type Binding struct {
	BindingSpec
	MAC            string    `json:"mac"`
	Generation     int64     `json:"generation" doc:"Counts wishes for this node; raising it re-images"`
	Digest         string    `json:"digest,omitempty" doc:"Of the image"`
	UserDataSHA256 string    `json:"user_data_sha256,omitempty"`
	Revision       int64     `json:"revision"`
	Updated        time.Time `json:"updated"`
	Satisfied      bool      `json:"satisfied" doc:"The node was observed to have done this generation"`
}

// Status is what was observed of a node.
type Status struct {
	Phase        Phase     `json:"phase"`
	Generation   int64     `json:"generation" doc:"Of the plan that it was last given"`
	Image        string    `json:"image,omitempty" doc:"Image on its disk, as far as was observed"`
	Digest       string    `json:"digest,omitempty"`
	BootID       string    `json:"boot_id,omitempty" doc:"Kernel boot id of what last spoke"`
	Architecture string    `json:"architecture,omitempty" enum:"x86_64,arm64" doc:"Architecture that the node reported with its facts"`
	Step         int       `json:"step,omitempty" doc:"Number of the running or last step, from 1"`
	Steps        int       `json:"steps,omitempty"`
	Verb         string    `json:"verb,omitempty"`
	Progress     *Progress `json:"progress,omitempty"`
	Code         int       `json:"code,omitempty" doc:"Exit code of the step that failed (contract/exit-codes.md)"`
	Reason       string    `json:"reason,omitempty"`
	Detail       string    `json:"detail,omitempty" doc:"How the newest step went that said so, such as the mode of a write and why"`
	DiskKept     bool      `json:"disk_kept,omitempty" doc:"A capture read its disk and nothing wrote to it since: without a binding, its own system starts"`
	Start        string    `json:"start,omitempty" enum:"kexec,reboot,fallback" doc:"How the installed system was started: by a jump, through the firmware as its plan said, or through the firmware because the jump led nowhere"`
	StartNote    string    `json:"start_note,omitempty" doc:"Why the plan says reboot where boot=auto would have meant kexec"`
	OS           *OS       `json:"os,omitempty" doc:"What the installed system said of itself"`
	Rescue       int64     `json:"rescue,omitempty" doc:"Number of the rescue whose step it runs; other than 0 until it has left that"`
	Before       Phase     `json:"before,omitempty" doc:"In phase rescue: the phase that its end brings back"`
	Since        time.Time `json:"since,omitzero" doc:"When the phase began"`
	Seen         time.Time `json:"seen,omitzero" doc:"When it last spoke"`
}

// RescueSpec asks for the Sled system with an SSH server on a node. Its disks are not touched, and no plan is given, until the rescue ends.
type RescueSpec struct {
	AuthorizedKeys []string `json:"authorized_keys" doc:"SSH public keys of those who may enter as root; 2,048 bytes together" minItems:"1" maxItems:"32" nullable:"false" example:"[\"ssh-ed25519 AAAA alice\"]"`
}

// Rescue is one that is wished of a node, and how to enter it.
type Rescue struct {
	RescueSpec
	Begun       time.Time `json:"begun"`
	Entered     time.Time `json:"entered,omitzero" doc:"When the node said that its SSH server answers, or that it cannot run one"`
	Address     string    `json:"address,omitempty"`
	HostKey     string    `json:"host_key,omitempty" doc:"As in a file of known hosts; another one at each boot"`
	Fingerprint string    `json:"fingerprint,omitempty" doc:"Of the host key, as ssh shows it"`
	Reason      string    `json:"reason,omitempty" doc:"Why the node could not run an SSH server"`
}

// Progress of the running step.
type Progress struct {
	Bytes int64 `json:"bytes"`
	Total int64 `json:"total"`
	Rate  int64 `json:"rate" doc:"Bytes a second"`
}

// OS is what an installed system said when it confirmed.
type OS struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Kernel    string `json:"kernel"`
	MachineID string `json:"machine_id"`
	BootID    string `json:"boot_id"`
	Start     string `json:"start,omitempty" enum:"kexec,firmware" doc:"Whether its kernel was jumped to"`
	// BIOS says neither of the next two.
	BootOrder   string    `json:"boot_order,omitempty" doc:"What the firmware boots first: disk, network or unknown"`
	BootCurrent string    `json:"boot_current,omitempty" doc:"Number and name of the firmware's entry that was started when the power last came"`
	Confirmed   time.Time `json:"confirmed"`
}

// Facts is the hardware of a node, as its Sled system saw it. Values are text as reported.
type Facts struct {
	Time     time.Time           `json:"time"`
	BootID   string              `json:"boot_id"`
	Kernel   map[string]string   `json:"kernel,omitempty"`
	CPU      map[string]string   `json:"cpu,omitempty"`
	Memory   map[string]string   `json:"memory,omitempty"`
	Firmware map[string]string   `json:"firmware,omitempty"`
	DMI      map[string]string   `json:"dmi,omitempty"`
	Disks    []map[string]string `json:"disks,omitempty"`
	NICs     []map[string]string `json:"nics,omitempty"`
}

// Event is one thing that happened. ID is the store's revision, so it grows over the whole fleet.
type Event struct {
	ID         int64     `json:"id"`
	Time       time.Time `json:"time"`
	MAC        string    `json:"mac"`
	Kind       string    `json:"kind" enum:"declare,bind,unbind,power,way,fallback,lost,rescue,script,facts,plan,begin,end,image,operational,bootorder,log,lastwords,delete"`
	Generation int64     `json:"generation,omitempty"`
	BootID     string    `json:"boot_id,omitempty"`
	Step       int       `json:"step,omitempty"`
	Steps      int       `json:"steps,omitempty"`
	Verb       string    `json:"verb,omitempty"`
	Code       int       `json:"code,omitempty"`
	Seconds    float64   `json:"seconds,omitempty" doc:"How long the step took; for facts: kernel uptime"`
	Bytes      int64     `json:"bytes,omitempty" doc:"What the step moved, as far as it said"`
	Phase      Phase     `json:"phase,omitempty" doc:"Phase after the event"`
	Detail     string    `json:"detail,omitempty"`
}

// Timeline is the newest run of a node, to operational: from power-on; from the bind, when it was already waiting; or from the decision to
// start it warm, out of its running system.
type Timeline struct {
	MAC        string    `json:"mac"`
	Name       string    `json:"name"`
	Generation int64     `json:"generation"`
	Phase      Phase     `json:"phase"`
	Begin      time.Time `json:"begin"`
	Total      float64   `json:"total" doc:"Seconds"`
	Stages     []Stage   `json:"stages" nullable:"false"`
}

// Role of an operator token. Each includes the ones before it.
type Role string

// The roles.
const (
	Read    Role = "read"
	Operate Role = "operate"
	Admin   Role = "admin"
)

// Operator is somebody who may use the API. The token itself is shown once, when it is made.
type Operator struct {
	Name  string `json:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$"`
	Role  Role   `json:"role" enum:"read,operate,admin"`
	Token string `json:"token,omitempty" doc:"Only in the answer that made it"`
}

// NodeList is one page of nodes, ordered by MAC.
type NodeList struct {
	Items []Node `json:"items" nullable:"false"`
	Next  string `json:"next" doc:"Pass as after to get the next page; empty: this was the last"`
}

// ImageList is all images, ordered by name.
type ImageList struct {
	Items []Image `json:"items" nullable:"false"`
}

// BindingList is one page of bindings, ordered by MAC; or the answer to a bulk call, in the order asked.
type BindingList struct {
	Items []Binding `json:"items" nullable:"false"`
	Next  string    `json:"next,omitempty" doc:"Pass as after to get the next page; empty: this was the last"`
}

// BulkBinding is one of many wishes.
type BulkBinding struct {
	BindingSpec
	Unbind       bool   `json:"unbind,omitempty" doc:"Take the wish back; of the binding only node and owner are looked at. The answer has node and mac alone; a node that is not bound is fine"`
	Reimage      bool   `json:"reimage,omitempty" doc:"Raise the generation even when nothing changed"`
	IfRevision   *int64 `json:"if_revision,omitempty" minimum:"0" doc:"Only if the stored binding has this revision; 0: only if the node is not bound"`
	IfGeneration int64  `json:"if_generation,omitempty" minimum:"0" doc:"Only if the wish has this generation then; for unbind: if it has it now"`
}

// BulkBindings asks for many bindings at once.
type BulkBindings struct {
	Items []BulkBinding `json:"items" minItems:"1" maxItems:"10000" nullable:"false"`
}

// EventList is the newest events of a node, oldest first.
type EventList struct {
	Items []Event `json:"items" nullable:"false"`
}

// NodeEvent is what whoever supervises a node can add to its events.
type NodeEvent struct {
	Kind   string `json:"kind" enum:"power,way,fallback,lost" doc:"power: it was switched. way: how it is brought into the Sled system. fallback: its system did not confirm and it is started from its disk, once. lost: its system did not confirm at all; the node is failed"`
	Detail string `json:"detail" doc:"What was done or why, such as on, off or cycle; idle, warm, power, wol or manual; or a reason" minLength:"1" maxLength:"512" example:"on"`
	Log    string `json:"log,omitempty" doc:"Last words, such as the end of its console; only for fallback and lost" maxLength:"65536"`
}

// Boot is what a node that runs is started with, by kexec, to come into the Sled system without its firmware.
type Boot struct {
	Kernel    string `json:"kernel" doc:"URL" example:"https://10.77.0.1/sled/generic/vmlinuz"`
	Initrd    string `json:"initrd" doc:"URL" example:"https://10.77.0.1/sled/generic/initrd.img"`
	Arguments string `json:"arguments" doc:"Of the kernel. They hold a boot token, which ends the ones before: keep them out of logs and command lines"`
}

// OperatorList is all operators, ordered by name.
type OperatorList struct {
	Items []Operator `json:"items" nullable:"false"`
}
