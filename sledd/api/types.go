// Package api defines the types of sledd's operator API (v1) and a client for it. The OpenAPI document is generated
// from these types; sledctl and the Terraform provider use the client.
package api

import (
	"cmp"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// Text of nodes (contract/report.md, Text): values of these types are safe to print. A string does not convert to them.
type (
	// Identifier is a name, a number or a version, in printable ASCII.
	Identifier = nodetext.Identifier
	// Prose is a sentence for people, on one line.
	Prose = nodetext.Prose
	// Address is a unicast IP address.
	Address = nodetext.Address
	// HostKey is an SSH host key, as in known_hosts.
	HostKey = nodetext.HostKey
	// Digest is the digest of an image that was measured, not registered.
	Digest = nodetext.Digest
	// Raw is a log.
	Raw = nodetext.Raw
)

// Clean makes prose of any text: what is not printable is replaced.
func Clean(text string) Prose { return nodetext.Clean(text) }

// Strings returns identifiers by key as strings.
func Strings(values map[string]Identifier) map[string]string { return nodetext.Strings(values) }

// Phase is the last observed state of a node; never inferred. Empty: declared, but not observed yet.
type Phase string

// ReplaceSpec moves a node to another MAC.
type ReplaceSpec struct {
	MAC string `json:"mac" doc:"MAC of the new boot interface, lower case with colons" pattern:"^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$" example:"52:54:00:77:00:09"`
}

// KeepBootOrder leaves the boot order unchanged; the default.
const KeepBootOrder = "keep"

// OtherBootOrder is the boot order that the installed system reported, if it differs from the declared one; else empty.
func (n Node) OtherBootOrder() string {
	if n.Status.OS == nil || n.BootOrder == "" || n.BootOrder == KeepBootOrder {
		return ""
	}
	reported := n.Status.OS.BootOrder.String()
	if reported == n.BootOrder {
		return ""
	}
	return reported
}

// Node is a declared or discovered machine: declaration, status, binding, rescue and facts.
type Node struct {
	NodeSpec
	NodeAdmission
	Declared bool     `json:"declared" doc:"False for a discovered machine that no operator has declared"`
	Revision int64    `json:"revision" doc:"Revision of the declaration, for conditional changes; also the ETag"`
	Status   Status   `json:"status"`
	Overdue  int64    `json:"overdue,omitempty" doc:"Seconds beyond the time in which a node leaves its phase, or its step moves bytes; absent: it is not overdue"`
	Wait     *Wait    `json:"wait,omitempty" doc:"Why the node does not move on although nothing has failed; absent: it waits for nothing"`
	Binding  *Binding `json:"binding,omitempty"`
	Detours
	Facts *Facts `json:"facts,omitempty" doc:"Only in the response for a single node"`
}

// Image is a registered image.
type Image struct {
	ImageSpec
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created"`
}

// DiskImage and PartitionImage are the kinds of images that nodes are bound to, RootImage the kind of those that
// container images become, KernelImage of those that jobs and roots run on.
const (
	DiskImage      = "disk"
	PartitionImage = "partition"
	RootImage      = "root"
	KernelImage    = "kernel"
)

// Holds returns the kind of the image, also where none was given.
func (i ImageSpec) Holds() string { return cmp.Or(i.Kind, DiskImage) }

// Binding is the stored desired state of a node.
type Binding struct {
	BindingSpec
	MAC            string    `json:"mac"`
	Generation     int64     `json:"generation" doc:"Number of the desired state; the node is imaged again when it rises"`
	Digest         string    `json:"digest,omitempty" doc:"Digest of the image"`
	UserDataSHA256 string    `json:"user_data_sha256,omitempty" doc:"HMAC-SHA256 of the user data with the key of the fleet, after hmac-sha256:"`
	HandsOver      bool      `json:"hands_over,omitempty" doc:"This generation hands the machine to another owner: by handover, by another owner than before, or because a handover before it was not completed"`
	Revision       int64     `json:"revision"`
	Updated        time.Time `json:"updated"`
	SeedNumber     int64     `json:"seed_number,omitempty" doc:"Number of the seed; rises when host name, keys or user data change"`
	SeedDiffers    bool      `json:"seed_differs,omitempty" doc:"True if the installed system has an earlier seed: host name, keys or user data were changed since, and take effect with the next image"`
	Outlook        *Outlook  `json:"outlook,omitempty" doc:"Only in the response to a dry run"`
	Memory         bool      `json:"memory,omitempty" doc:"True if the image runs from memory: the disks of the node are left as they are"`
	Satisfied      bool      `json:"satisfied" doc:"True once the node was observed to have completed this generation"`
}

// Status is the observed state of a node.
type Status struct {
	Phase        Phase      `json:"phase"`
	Generation   int64      `json:"generation" doc:"Generation of the last plan that the node received"`
	Image        string     `json:"image,omitempty" doc:"Image on its disk, as far as observed"`
	Digest       string     `json:"digest,omitempty"`
	BootID       Identifier `json:"boot_id,omitzero" doc:"Kernel boot ID of the last request of the node"`
	Address      Address    `json:"address,omitzero" doc:"Address that the machine spoke from when it was admitted as the node"`
	Architecture string     `json:"architecture,omitempty" enum:"x86_64,arm64" doc:"Architecture that the node reported with its facts"`
	SeedNumber   int64      `json:"seed_number,omitempty" doc:"Number of the seed that the node received last"`
	Owner        string     `json:"owner,omitempty" doc:"Last owner of a binding that images or wipes the node, also once it was removed"`
	Handover     int64      `json:"handover,omitempty" doc:"Generation that hands the machine over"`
	Step         int        `json:"step,omitempty" doc:"Number of the running or last step, from 1"`
	Steps        int        `json:"steps,omitempty"`
	Verb         string     `json:"verb,omitempty"`
	Progress     *Progress  `json:"progress,omitempty"`
	Code         int        `json:"code,omitempty" doc:"Exit code of the step that failed (contract/exit-codes.md)"`
	Reason       Prose      `json:"reason,omitzero"`
	Detail       Prose      `json:"detail,omitzero" doc:"Detail of the last step that reported one, such as the mode of a write and its reason"`
	Memory       bool       `json:"memory,omitempty" doc:"True if the node was started from memory: what is on its disk does not run"`
	Kernel       OnKernel   `json:"kernel,omitzero" doc:"Kernel of the binding that the Sled system of this boot is started on, or was"`
	Confirmed    Prose      `json:"confirmed,omitzero" doc:"How a payload confirmed that it runs, for people" example:"by http 0.4 s after the jump"`
	DiskKept     bool       `json:"disk_kept,omitempty" doc:"True from a capture of the disk until the next write to it: without a binding, the node starts its own system"`
	Erased       *Erased    `json:"erased,omitempty" doc:"Disks that a wipe of this boot has erased, and that no step has written to since: a plan of the same boot does not erase them again"`
	Start        string     `json:"start,omitempty" enum:"kexec,reboot,fallback,memory" doc:"How the system was started: by kexec, by a reboot as in its plan, by a reboot after a failed kexec, or from memory"`
	StartNote    Prose      `json:"start_note,omitzero" doc:"Why the plan has reboot although boot is auto"`
	OS           *OS        `json:"os,omitempty" doc:"Report of the installed system"`
	Run          Run        `json:"run,omitzero" doc:"Newest plan that the node got"`
	Stamp        Stamp      `json:"stamp,omitzero" doc:"Newest plan that has started to configure a disk, which bears its stamp (contract/plan.md, Stamps)"`
	Released     string     `json:"released,omitempty" doc:"Epoch of the store in which an operator released the node: until the next configure no disk is ahead of its plan"`
	Before       Phase      `json:"before,omitempty" doc:"In phase rescue: the phase to return to when the rescue ends"`
	Withheld     time.Time  `json:"withheld,omitzero" doc:"Since when a secret is withheld from the running step, or the plan of a capture from the node (contract/admission.md, Rights)"`
	Since        time.Time  `json:"since,omitzero" doc:"Start of the phase"`
	Seen         time.Time  `json:"seen,omitzero" doc:"Time of the last request of the node"`
	Moved        time.Time  `json:"moved,omitzero" doc:"When the running step reported other bytes than before; in a wipe of level purge: anything"`
}

// Run is the newest plan that a node got.
type Run struct {
	Number     int64  `json:"number" doc:"It rises with each plan that the node gets"`
	Generation int64  `json:"generation" doc:"Generation of the plan"`
	Detour     string `json:"detour,omitempty" doc:"What the plan interrupts the binding for, such as rescue; return: the node leaves it; absent: the plan follows the binding"`
	After      string `json:"after,omitempty" enum:"hold,poweroff" doc:"What follows the detour; absent: the node continues as without it"`
	Used       bool   `json:"used,omitempty" doc:"The kernel is that of a job with a kernel, settings or privileges: the node restarts before it does anything else"`
	Payload    bool   `json:"payload,omitempty" doc:"A job has started a payload of kind kernel, which has the machine until that is restarted"`
}

// Progress is the progress of the running step.
type Progress struct {
	Bytes int64 `json:"bytes"`
	Total int64 `json:"total"`
	Rate  int64 `json:"rate" doc:"Bytes per second"`
}

// OS is the installed system: what it reported when it confirmed, and the host key that was made for it. Until it
// confirms, only the host key is set. With BIOS, BootOrder and BootCurrent are empty.
type OS struct {
	ID          Identifier `json:"id"`
	Version     Identifier `json:"version"`
	Kernel      Identifier `json:"kernel"`
	MachineID   Identifier `json:"machine_id"`
	BootID      Identifier `json:"boot_id"`
	Start       string     `json:"start,omitempty" enum:"kexec,firmware,memory" doc:"Whether its kernel was started by kexec or by the firmware, or it was started from memory"`
	BootOrder   Identifier `json:"boot_order,omitzero" doc:"What the firmware boots first: disk, network or unknown"`
	BootCurrent Identifier `json:"boot_current,omitzero" doc:"Number and name of the firmware's boot entry of the last cold start"`
	HostKey     HostKey    `json:"host_key,omitzero" pattern:"^(ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) [A-Za-z0-9+/]{68,}={0,2}$" doc:"Host key of its SSH server, in the format of known_hosts; absent: none was made"`
	Address     Address    `json:"address,omitzero" doc:"Address that it confirmed from"`
	Lacks       Prose      `json:"lacks,omitzero" doc:"What of its seed is not in use: keys that do not let root in, a seed that cloud-init has not read"`
	Confirmed   time.Time  `json:"confirmed,omitzero" doc:"Absent until it confirms"`
}

// Facts is the hardware of a node, as reported by its Sled system. Values are not interpreted: unacceptable ones were
// dropped.
type Facts struct {
	Time     time.Time               `json:"time"`
	BootID   Identifier              `json:"boot_id"`
	Kernel   map[string]Identifier   `json:"kernel,omitempty"`
	CPU      map[string]Identifier   `json:"cpu,omitempty"`
	Memory   map[string]Identifier   `json:"memory,omitempty"`
	Firmware map[string]Identifier   `json:"firmware,omitempty"`
	DMI      map[string]Identifier   `json:"dmi,omitempty"`
	Disks    []map[string]Identifier `json:"disks,omitempty"`
	Missing  []map[string]Identifier `json:"missing,omitempty" doc:"Local disks that an earlier boot reported, and the newest did not"`
	NICs     []map[string]Identifier `json:"nics,omitempty"`

	Partitions []map[string]Identifier `json:"partitions,omitempty" doc:"Partitions of its disks: disk (its name), number, label, uuid, bytes, type (of the filesystem)"`
}

// Event is one event of a node. ID is the revision of the store, so it rises over the whole fleet.
type Event struct {
	ID         int64      `json:"id"`
	Time       time.Time  `json:"time"`
	MAC        string     `json:"mac"`
	Name       string     `json:"name,omitempty" doc:"Name of the node then"`
	Kind       string     `json:"kind" enum:"declare,replace,bind,unbind,power,entry,fallback,lost,rescue,facts,plan,begin,end,image,operational,bootorder,log,lastwords,delete,expect,ack,claim,admit,refuse,leave,void,rival,link,window,boots,seed,flood,upload,disk,network,hold,job,release,abort"`
	Generation int64      `json:"generation,omitempty"`
	Run        int64      `json:"run,omitempty" doc:"Number of the plan, of the kinds plan, begin and end"`
	Detour     string     `json:"detour,omitempty" doc:"What a plan interrupts the binding for, as in the status of the node"`
	BootID     Identifier `json:"boot_id,omitzero"`
	Step       int        `json:"step,omitempty"`
	Steps      int        `json:"steps,omitempty" doc:"Number of steps of the plan; absent of one that only waits"`
	Verb       string     `json:"verb,omitempty"`
	Code       int        `json:"code,omitempty"`
	Seconds    float64    `json:"seconds,omitempty" doc:"Duration of the step; for facts: uptime of the kernel"`
	Bytes      int64      `json:"bytes,omitempty" doc:"Bytes that the step moved, if reported"`
	Received   *Received  `json:"received,omitempty" doc:"What a write received"`
	Phase      Phase      `json:"phase,omitempty" doc:"Phase after the event"`
	Detail     Prose      `json:"detail,omitzero"`
	From       string     `json:"from,omitempty" doc:"Address that the request came from; of an admission: that of the claim"`
	Actor      string     `json:"actor,omitempty" doc:"Operator who requested it; absent: a node, or sledd"`
	Via        string     `json:"via,omitempty" enum:"sledctl,terraform,ansible,web,other" doc:"Program of the operator"`
	Level      string     `json:"level,omitempty" doc:"Level at which the sender is admitted"`
	Link       string     `json:"link,omitempty" doc:"Whether its address belonged to the node's MAC on the link: same, other, unknown"`
}

// Timeline is the last run of a node, up to phase operational. It starts with power-on, with the binding if the node
// was already waiting, or with the request to start the Sled system by kexec from the running system.
type Timeline struct {
	MAC        string    `json:"mac"`
	Name       string    `json:"name"`
	Generation int64     `json:"generation"`
	Phase      Phase     `json:"phase"`
	Begin      time.Time `json:"begin"`
	Total      float64   `json:"total" doc:"Duration in seconds"`
	Stages     []Stage   `json:"stages" nullable:"false"`
}

// Role is the role of an operator. Each role includes those before it.
type Role string

// The roles.
const (
	Read    Role = "read"
	Operate Role = "operate"
	Admin   Role = "admin"
)

// Operator is a user of the API. The token is returned once, when it is created.
type Operator struct {
	Name     string    `json:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$"`
	Role     Role      `json:"role" enum:"read,operate,admin"`
	Owner    string    `json:"owner,omitempty" maxLength:"128" doc:"Person or team that answers for the token" example:"alice@example.org"`
	Expires  time.Time `json:"expires,omitzero" doc:"When the token ends; default in a request: in 90 days. Absent in a response: never"`
	LastUsed time.Time `json:"last_used,omitzero" readOnly:"true" doc:"Hour in which the token was used last"`
	Token    string    `json:"token,omitempty" doc:"Only in the response that created it"`
}

// AuditRecord is one change that an operator requested, or how many were refused in an hour.
type AuditRecord struct {
	Time     time.Time `json:"time" doc:"Of refused requests the start of the hour"`
	Operator string    `json:"operator"`
	Role     Role      `json:"role"`
	From     string    `json:"from" doc:"Address of the client"`
	Via      string    `json:"via,omitempty" enum:"sledctl,terraform,ansible,web,other" doc:"Program of the operator"`
	Method   string    `json:"method"`
	Path     string    `json:"path" doc:"With the query"`
	Node     string    `json:"node,omitempty" doc:"Node in the path, as the client named it"`
	Status   int       `json:"status" doc:"HTTP status of the response"`
	Refused  int       `json:"refused,omitempty" doc:"How many requests of this operator were refused in this hour; the record describes the newest"`
}

// AuditList is the newest audit records, oldest first.
type AuditList struct {
	Items []AuditRecord `json:"items" nullable:"false"`
}

// NodeList is one page of nodes, ordered by MAC.
type NodeList struct {
	Items []Node `json:"items" nullable:"false"`
	Next  string `json:"next" doc:"Pass as after to get the next page; empty: this was the last"`
}

// ImageList is the list of all images, ordered by name.
type ImageList struct {
	Items []Image `json:"items" nullable:"false"`
}

// BindingList is one page of bindings, ordered by MAC, or the response to a bulk request, in its order.
type BindingList struct {
	Items []Binding `json:"items" nullable:"false"`
	Next  string    `json:"next,omitempty" doc:"Pass as after to get the next page; empty: this was the last"`
}

// BulkBinding is one item of a bulk request.
type BulkBinding struct {
	BindingSpec
	Unbind       bool   `json:"unbind,omitempty" doc:"Delete the binding; only node and owner are read. The response has only node and mac. A node without a binding is no error"`
	Reimage      bool   `json:"reimage,omitempty" doc:"Raise the generation even if nothing changed"`
	KeepUserData bool   `json:"keep_user_data,omitempty" doc:"The user data stays as stored; user_data is then absent"`
	IfRevision   *int64 `json:"if_revision,omitempty" minimum:"0" doc:"Only if the stored binding has this revision; 0: only if the node has no binding"`
	IfMAC        string `json:"if_mac,omitempty" doc:"Only if this is a MAC of the node: a name may be that of a node of another fleet" example:"52:54:00:77:00:01"`
	IfGeneration int64  `json:"if_generation,omitempty" minimum:"0" doc:"Only if the resulting binding has this generation; for unbind: the present one"`
}

// BulkBindings is a bulk request.
type BulkBindings struct {
	Items []BulkBinding `json:"items" minItems:"1" maxItems:"10000" nullable:"false"`
	Limits
	Assume *Assumed `json:"assume,omitempty" doc:"Objects that a dry run takes for declared: those that the caller declares before it binds. Only for a dry run"`
}

// Assumed are objects that a dry run takes for declared. They replace what is stored of the same MAC or name.
type Assumed struct {
	Nodes  []NodeSpec  `json:"nodes,omitempty" maxItems:"10000"`
	Images []ImageSpec `json:"images,omitempty" maxItems:"10000"`
}

// Limits of a request for many nodes. One that would exceed a limit is refused whole, with the names.
type Limits struct {
	MaxWipes    *int `json:"max_wipes,omitempty" minimum:"0" doc:"Maximum number of nodes whose disks are wiped, first images included. Default: no limit"`
	MaxReimages *int `json:"max_reimages,omitempty" minimum:"0" doc:"Maximum number of nodes that are imaged or wiped again; a node's first image does not count. Default: no limit"`
}

// EventList is the list of the newest events of a node, oldest first.
type EventList struct {
	Items []Event `json:"items" nullable:"false"`
}

// NodeEvent is an event that the supervisor of a node adds.
type NodeEvent struct {
	Kind   string `json:"kind" enum:"power,entry,fallback,lost" doc:"power: power was switched. entry: attempt to get into the Sled system. fallback: the system did not confirm and is started once from its disk. lost: the system did not confirm at all; the node is failed"`
	Detail string `json:"detail" doc:"For power: on, off or cycle. For entry: the entry method (idle, warm, power, wol or manual), and why it failed, if it did. Else: the reason" minLength:"1" maxLength:"512" example:"on"`
	Log    string `json:"log,omitempty" doc:"Last output, such as the end of the console; only for fallback and lost" maxLength:"65536"`
}

// Boot is what a running system needs to start the Sled system by kexec, without the firmware.
type Boot struct {
	Kernel    string `json:"kernel" doc:"URL of the kernel" example:"https://10.77.0.1/sled/generic/vmlinuz"`
	Initrd    string `json:"initrd" doc:"URL of the initrd" example:"https://10.77.0.1/sled/generic/initrd.img"`
	Arguments string `json:"arguments" doc:"Kernel arguments"`
	// Ticket goes into a file of the initrd that the Sled system reads.
	Ticket  string    `json:"ticket" doc:"Secret that admits this boot, once. Append a cpio behind the initrd that holds it in /etc/sled/ticket, mode 0600. It replaces earlier ones"`
	Expires time.Time `json:"expires" doc:"When the ticket ends"`
}

// OperatorList is the list of all operators, ordered by name.
type OperatorList struct {
	Items []Operator `json:"items" nullable:"false"`
}
