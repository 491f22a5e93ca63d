// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"time"
)

// JobSpec requests that a node runs a container image or a kernel once, from RAM, beside its binding. No disk is
// touched.
type JobSpec struct {
	Node        string            `json:"node,omitempty" maxLength:"64" pattern:"^([0-9A-Za-z][0-9A-Za-z:-]*)?$" doc:"MAC (with colons or hyphens) or name; absent: one of the nodes with the labels that waits in the Sled system" example:"n1"`
	Labels      map[string]string `json:"labels,omitempty" maxProperties:"64" doc:"Labels that a node must have to be taken; all must match" example:"{\"rack\":\"r7\"}"`
	Image       string            `json:"image" pattern:"^[a-z0-9][a-z0-9._-]{0,127}$" doc:"Name of an image of kind root, or of a payload of kind kernel, which takes the node over until it is restarted. It may be registered later: the node waits for it" example:"hpl-v3"`
	Entrypoint  []string          `json:"entrypoint,omitempty" maxItems:"256" nullable:"false" doc:"Program and arguments before the command; default: those of the image"`
	Command     []string          `json:"command,omitempty" maxItems:"256" nullable:"false" doc:"Arguments, or the whole command without an entry point; default: those of the image, unless an entry point is given" example:"[\"./xhpl\",\"12800\"]"`
	Environment []string          `json:"environment,omitempty" maxItems:"256" nullable:"false" doc:"Variables, each as NAME=VALUE; they replace those of the image" example:"[\"OMP_NUM_THREADS=4\"]"`
	Folder      string            `json:"folder,omitempty" maxLength:"4096" pattern:"^(/.*)?$" doc:"Working directory; default: that of the image"`
	User        string            `json:"user,omitempty" pattern:"^([0-9]{1,10}:[0-9]{1,10})?$" doc:"User and group as numbers, UID:GID; default: those of the image" example:"1000:1000"`
	Secrets     map[string]string `json:"secrets,omitempty" maxProperties:"32" writeOnly:"true" doc:"Files that the payload reads in /run/secrets, by name; never returned. A node gets them only if it may have secrets (contract/admission.md, Rights)"`
	Kernel      string            `json:"kernel,omitempty" pattern:"^([a-z0-9][a-z0-9._-]{0,127})?$" doc:"Name of an image of kind kernel, on which the payload runs; default: the kernel of the Sled system. It may be registered later" example:"debian-13-6.12.107"`
	Arguments   string            `json:"kernel_arguments,omitempty" maxLength:"1024" doc:"Arguments of that kernel, behind those of the Sled system; of a payload, behind those of its image" example:"mitigations=off"`
	Tune        []string          `json:"tune,omitempty" maxItems:"64" nullable:"false" doc:"Settings of the kernel, each as PATH=VALUE with a path below /sys or /proc/sys. They are written and read back in this order before the payload starts" example:"[\"/sys/kernel/mm/transparent_hugepage/enabled=never\"]"`
	Root        string            `json:"root,omitempty" enum:"memory,net" doc:"memory: the node fetches the whole image into its memory (default). net: the image stays at the boot server, which exports it by NFS, and each block that is read is checked; for images that are larger than memory"`
	Privileged  bool              `json:"privileged,omitempty" doc:"The payload is root on the node, with its devices. Drivers of disks are unbound before it starts"`
	Artefacts   []string          `json:"artefacts,omitempty" maxItems:"64" nullable:"false" doc:"Absolute paths in the container that are kept when the payload has ended" example:"[\"/out\"]"`
	Timeout     int               `json:"timeout,omitempty" minimum:"1" maximum:"604800" doc:"Seconds that the payload may run; default: 3600"`
	Grace       int               `json:"grace,omitempty" minimum:"1" maximum:"600" doc:"Seconds between SIGTERM and SIGKILL; default: 10"`
	After       string            `json:"after,omitempty" enum:"return,hold,poweroff" doc:"What the node does afterwards: it continues as without the job (default), waits in the Sled system, or switches itself off"`
	Interrupt   bool              `json:"interrupt,omitempty" doc:"Also on a node that runs its system, which ends with its next boot"`
}

// NetRoot is a root that stays at the boot server.
const NetRoot = "net"

// What a node does after a job.
const (
	AfterReturn   = "return"
	AfterHold     = "hold"
	AfterPoweroff = "poweroff"
)

// JobState is how far a job is.
type JobState string

// The states of a job.
const (
	JobWaiting   JobState = "waiting"   // the node has not got its plan
	JobPreparing JobState = "preparing" // the node fetches the image, and starts the kernel
	JobRunning   JobState = "running"   // the payload was started
	JobDone      JobState = "done"      // the payload has ended, and all of its output has arrived
	JobFailed    JobState = "failed"    // it did not start, or was ended by its limits
	JobCancelled JobState = "cancelled" // by an operator
	JobLost      JobState = "lost"      // its end or a part of its output is not known, or its kernel did not start
)

// Spoils reports whether the job leaves a kernel that nothing else is run on.
func (j JobSpec) Spoils() bool { return j.Kernel != "" || len(j.Tune) > 0 || j.Privileged }

// HasMachine reports whether the payload of a job that has ended has the machine still: nothing of Sled runs beside it.
func (j Job) HasMachine() bool {
	return j.Confirm != "" && !j.Started.IsZero() && j.Code == 0 && j.EndedBy != "node"
}

// Ended reports whether the state is final.
func (s JobState) Ended() bool {
	return s == JobDone || s == JobFailed || s == JobCancelled || s == JobLost
}

// Job is a stored job. Secrets are not in it.
type Job struct {
	JobSpec
	ID          string    `json:"id" pattern:"^[0-9a-v]{12}$" example:"1kq7d2g3r9qa"`
	MAC         string    `json:"mac" doc:"MAC of the node"`
	SecretNames []string  `json:"secret_names,omitempty" doc:"Names of the secrets" nullable:"false"`
	State       JobState  `json:"state" enum:"waiting,preparing,running,done,failed,cancelled,lost" doc:"waiting: the node has not got its plan. preparing: it fetches the image, and starts the kernel. running: the payload was started. done: it has ended, and all output has arrived. failed: it did not start, or was ended by its limits. cancelled: by an operator. lost: its end or a part of its output is not known, or its kernel did not start"`
	Exit        *int      `json:"exit,omitempty" doc:"Exit code of the payload; 0 for one of kind kernel that reports none. Absent: it has not ended, or was ended by a signal"`
	Signal      int       `json:"signal,omitempty" doc:"Signal that ended the payload"`
	EndedBy     string    `json:"ended_by,omitempty" enum:"payload,timeout,cancel,memory,integrity,node,sled" doc:"What ended the job: the payload itself, the timeout, an operator, its memory limit, a block of its root that is not that of the image, the node, such as by a restart, or Sled, which could not start it"`
	Code        int       `json:"code,omitempty" doc:"Exit code of the step that failed (contract/exit-codes.md)"`
	Reason      Prose     `json:"reason,omitzero" doc:"Why it failed, is lost or waits"`
	Digest      string    `json:"digest,omitempty" doc:"Digest of the image that the node got"`
	Confirm     string    `json:"confirm,omitempty" enum:"http,console,none" doc:"How a payload of kind kernel reports that it has ended; none: the node comes back. Absent: the image is a container, or the node has not got its plan"`
	Release     string    `json:"kernel_release,omitempty" doc:"Release of the kernel that the node got the plan on, as its facts report it" example:"6.12.107+deb13-amd64"`
	Before      string    `json:"kernel_before,omitempty" doc:"Release of the kernel that started the kernel of the job" example:"6.1.0-56-cloud-amd64"`
	Level       string    `json:"level,omitempty" doc:"Level at which the node was admitted when it got the plan"`
	Output      *JobFile  `json:"output,omitempty" doc:"Standard output of the payload, as the node sent it"`
	Errors      *JobFile  `json:"errors,omitempty" doc:"Standard error of the payload, as the node sent it"`
	Files       *JobFile  `json:"files,omitempty" doc:"The tar of its artefacts"`
	Actor       string    `json:"actor,omitempty" doc:"Operator who requested it"`
	Via         string    `json:"via,omitempty" enum:"sledctl,terraform,ansible,web,other" doc:"Program of the operator"`
	Created     time.Time `json:"created"`
	Prepared    time.Time `json:"prepared,omitzero" doc:"When the node got its plan"`
	KernelUp    time.Time `json:"kernel_up,omitzero" doc:"When the node got the plan on the kernel of the job"`
	Started     time.Time `json:"started,omitzero" doc:"When the payload was started"`
	Cancelled   time.Time `json:"cancelled,omitzero" doc:"When an operator cancelled it; the payload may still run until its grace is over"`
	Ended       time.Time `json:"ended,omitzero"`
	Seconds     float64   `json:"seconds,omitempty" doc:"How long the payload ran, as the node measured it"`
	Energy      *Energy   `json:"energy,omitempty" doc:"What the node drew meanwhile; absent: nobody has measured that"`
}

// JobFile is a file that the node has sent.
type JobFile struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
}

// JobList is a list of jobs, the newest first.
type JobList struct {
	Items []Job `json:"items" nullable:"false"`
}

// NodeJob is the job of a node.
type NodeJob struct {
	ID     string   `json:"id"`
	Image  string   `json:"image"`
	Now    JobState `json:"state" enum:"waiting,preparing,running"`
	Reason Prose    `json:"reason,omitzero" doc:"Why it waits, such as for an image that is not registered"`
}

// State implements Detour.
func (j *NodeJob) State() string {
	text := fmt.Sprintf("job %s of image %s: %s", j.ID, j.Image, j.Now)
	if !j.Reason.IsZero() {
		text += ", " + j.Reason.String()
	}
	return text
}

// Login implements Detour: there is no SSH server.
func (j *NodeJob) Login() (Address, HostKey) { return Address{}, HostKey{} }
