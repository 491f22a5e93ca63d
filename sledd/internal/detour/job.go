// SPDX-License-Identifier: Apache-2.0

package detour

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// Job is a job that has not ended, as stored.
type Job struct {
	api.Job
	Run    int64          `json:"run,omitempty"`            // of its plan; 0: not issued yet
	Source *api.ImageSpec `json:"source,omitempty"`         // the image that the node gets, once it is registered
	On     *api.ImageSpec `json:"on,omitempty"`             // the kernel that it starts, once that is registered
	Left   time.Time      `json:"left_at,omitzero"`         // when the node has left to start that kernel
	Kill   bool           `json:"kill,omitempty"`           // an operator does not wait for its grace
	Upload string         `json:"upload,omitempty"`         // URL that its files are put below
	Sealed string         `json:"sealed_secrets,omitempty"` // the secrets, if sledd has a key for them: instead of them
}

// Payload returns the kernel that takes the node over; nil: the job runs a container, or its image is not registered.
func (j *Job) Payload() *api.Payload {
	if j == nil || j.Source == nil {
		return nil
	}
	return j.Source.Payload
}

// Jumped reports whether a payload of kind kernel was started.
func (j *Job) Jumped() bool { return j.Payload() != nil && j.State == api.JobRunning }

// PayloadSteps are those of a payload of kind kernel. confirm is the URL by which it reports its end, if it does so.
func (j *Job) PayloadSteps(confirm string) []operand.Line {
	return []operand.Line{fetch(j.Source, api.KernelImage), plan.Payload(*j.Payload(), j.Arguments, confirm)}
}

// Until is when a payload that was started is ended by its timeout.
func (j *Job) Until() time.Time { return j.Started.Add(time.Duration(j.Timeout) * time.Second) }

// Public returns the job as it is shown: without secrets.
func (j *Job) Public() api.Job {
	shown := j.Job
	shown.Secrets = nil
	return shown
}

// Finish returns the job as it has ended.
func (j *Job) Finish(state api.JobState, by string, reason api.Prose, now time.Time) api.Job {
	ended := j.Public()
	ended.State, ended.EndedBy, ended.Ended = state, by, now
	ended.Reason = reason
	return ended
}

// SignalOf returns the signal that the payload of a job is to get, if the node has that job; empty: none. The payload
// of a job that the node has no longer is killed.
func (j *Job) SignalOf(id string) string {
	switch {
	case j == nil || j.ID != id || j.Kill:
		return "KILL"
	case !j.Cancelled.IsZero():
		return "TERM"
	}
	return ""
}

func (j *Job) name() string { return OfJob }

func (j *Job) state() string { return "taken by job " + j.ID }

// steps start the kernel, or fetch the image and run it; none: an image is not registered.
func (j *Job) steps() []operand.Line {
	if j.Source == nil {
		return nil
	}
	if j.Payload() != nil {
		return j.PayloadSteps("")
	}
	if j.On != nil && j.KernelUp.IsZero() {
		start := []operand.Pair{{Key: "as", Value: "system"}}
		if j.Arguments != "" {
			start = append(start, operand.Pair{Key: "append", Value: j.Arguments})
		}
		return []operand.Line{fetch(j.On, api.KernelImage), {Word: "start", Operands: start}}
	}
	root := fetch(j.Source, api.RootImage)
	if j.Root == api.NetRoot {
		root.Operands = append(root.Operands, operand.Pair{Key: "nfs", Value: j.Source.NFS})
	}
	run := []operand.Pair{{Key: "job", Value: j.ID}, {Key: "upload", Value: j.Upload},
		{Key: "timeout", Value: strconv.Itoa(j.Timeout)}, {Key: "grace", Value: strconv.Itoa(j.Grace)}}
	if j.Privileged {
		run = append(run, operand.Pair{Key: "privileged", Value: "yes"})
	}
	return []operand.Line{root, {Word: "run", Operands: run}}
}

// fetch is the step that brings an image of a kind.
func fetch(image *api.ImageSpec, kind string) operand.Line {
	operands := []operand.Pair{{Key: "image", Value: strings.Join(image.URLs, ",")},
		{Key: "digest", Value: image.Digest}}
	if image.Signature != "" {
		operands = append(operands, operand.Pair{Key: "name", Value: image.Name},
			operand.Pair{Key: "statement", Value: image.Statement},
			operand.Pair{Key: "signature", Value: image.Signature})
	}
	return operand.Line{Word: "fetch", Operands: append(operands, operand.Pair{Key: "as", Value: kind})}
}

// Last reports whether the end of a step is that of the job.
func Last(line report.Line) bool { return line.Code != 0 || line.Ran != nil }

// End returns the job after the end of its last step. missing is what of its files has not arrived as it was sent;
// empty: nothing.
func (j *Job) End(line report.Line, missing string, now time.Time) api.Job {
	if line.Code != 0 {
		by := "sled"
		if line.Code == api.CodeIntegrity {
			by = "integrity"
		}
		ended := j.Finish(api.JobFailed, by, line.Reason, now)
		ended.Code = line.Code
		return ended
	}
	state := map[string]api.JobState{"payload": api.JobDone, "cancel": api.JobCancelled}[line.Ran.By]
	ended := j.Finish(cmp.Or(state, api.JobFailed), line.Ran.By, line.Detail, now)
	ended.Seconds = line.Seconds
	if ended.Signal = line.Ran.Signal; ended.Signal == 0 {
		ended.Exit = &line.Ran.Exit
	}
	ended.Output, ended.Errors, ended.Files = shown(line.Ran.Output), shown(line.Ran.Errors), shown(line.Ran.Artefacts)
	if missing != "" {
		ended.Reason = api.Clean(missing)
		if state == api.JobDone {
			ended.State = api.JobLost
		}
	}
	return ended
}

func shown(sent report.Stream) *api.JobFile {
	if sent.Bytes == 0 {
		return nil
	}
	return &api.JobFile{Bytes: sent.Bytes, SHA256: sent.SHA256}
}

func (j *Job) show(node *api.Node) {
	node.Job = &api.NodeJob{ID: j.ID, Image: j.Image, Now: j.State, Reason: j.Reason}
}

// Text is how far a job is, for events.
func Text(j api.Job) string {
	text := fmt.Sprintf("%s %s", j.ID, j.State)
	switch {
	case j.Exit != nil:
		text += fmt.Sprintf(", exit code %d", *j.Exit)
	case j.Signal != 0:
		text += fmt.Sprintf(", signal %d", j.Signal)
	}
	if why := cmp.Or(j.Reason.String(), j.EndedBy); j.State.Ended() && why != "" {
		text += ": " + why
	}
	return text
}

// CheckImage refuses an image that a node cannot run as a job.
func CheckImage(job api.Job, image api.ImageSpec, node api.NodeSpec) error {
	has, wants := cmp.Or(image.Architecture, x86), cmp.Or(node.Architecture, x86)
	container := cmp.Or(image.Container, &api.Container{})
	switch {
	case image.Payload == nil && image.Holds() != api.RootImage:
		return fmt.Errorf("image %s has kind %s, and jobs run images of kind root and payloads of kind kernel", image.Name,
			image.Holds())
	case has != wants:
		return fmt.Errorf("image %s is for %s, node %s is %s", image.Name, has, node.Name, wants)
	case image.Payload != nil:
		return checkPayload(job, image)
	case job.Arguments != "" && job.Kernel == "":
		return errors.New("a job without a kernel runs on the one that has started already: name the kernel that gets the " +
			"arguments, or leave kernel_arguments out")
	case len(job.Entrypoint)+len(job.Command)+len(container.Entrypoint)+len(container.Command) == 0:
		return fmt.Errorf("image %s has neither an entry point nor a command: give one to the job", image.Name)
	case job.Root == api.NetRoot && image.NFS == "":
		return fmt.Errorf("image %s is on no NFS export, and root net reads it there: publish it with image_nfs "+
			"(docs/run.md), or leave out root", image.Name)
	}
	return nil
}

// checkPayload refuses what only a container has.
func checkPayload(job api.Job, image api.ImageSpec) error {
	for _, one := range []struct {
		name string
		set  bool
	}{
		{"entrypoint", len(job.Entrypoint) > 0}, {"command", len(job.Command) > 0},
		{"environment", len(job.Environment) > 0}, {"folder", job.Folder != ""}, {"user", job.User != ""},
		{"secrets", len(job.SecretNames) > 0}, {"kernel", job.Kernel != ""}, {"tune", len(job.Tune) > 0},
		{"root net", job.Root == api.NetRoot}, {"privileged", job.Privileged}, {"artefacts", len(job.Artefacts) > 0},
		{"after hold", job.After == api.AfterHold},
	} {
		if one.set {
			return fmt.Errorf("image %s (%s) takes the whole node over, and is no container: leave %s out", image.Name,
				image.KindText(), one.name)
		}
	}
	return nil
}

const x86 = "x86_64"

// netDrivers are those of a root that stays at the boot server.
var netDrivers = []string{"nfsv3", "dm_verity"}

// CheckKernel refuses an image on whose kernel a node cannot run a job.
func CheckKernel(job api.JobSpec, image api.ImageSpec, node api.NodeSpec, facts *api.Facts) error {
	if err := CheckSystem(image, node, facts); err != nil {
		return err
	}
	for _, driver := range netDrivers {
		if job.Root == api.NetRoot && !slices.Contains(image.Kernel.Drivers, driver) {
			return fmt.Errorf("kernel image %s has no driver %s, which root net needs", image.Name, driver)
		}
	}
	return nil
}

// CheckSystem refuses an image on whose kernel a node cannot start the Sled system. Without facts, its network drivers
// are not known.
func CheckSystem(image api.ImageSpec, node api.NodeSpec, facts *api.Facts) error {
	has, wants := cmp.Or(image.Architecture, x86), cmp.Or(node.Architecture, x86)
	switch {
	case image.Payload != nil:
		return fmt.Errorf("image %s (%s) is a payload: want a kernel for the Sled system", image.Name, image.KindText())
	case image.Holds() != api.KernelImage || image.Kernel == nil:
		return fmt.Errorf("image %s has kind %s: want a kernel of kind kernel", image.Name, image.Holds())
	case has != wants:
		return fmt.Errorf("image %s is for %s, node %s is %s", image.Name, has, node.Name, wants)
	}
	if facts == nil {
		return nil
	}
	for _, nic := range facts.NICs {
		driver := strings.ReplaceAll(nic["driver"].String(), "-", "_")
		named := strings.EqualFold(nic["mac"].String(), node.MAC)
		if named && driver != "" && !slices.Contains(image.Kernel.Drivers, driver) {
			return fmt.Errorf("kernel image %s has no driver %s, which the network of node %s needs", image.Name, driver,
				node.Name)
		}
	}
	return nil
}
