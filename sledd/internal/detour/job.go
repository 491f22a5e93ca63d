// SPDX-License-Identifier: Apache-2.0

package detour

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// Job is a job that has not ended, as stored.
type Job struct {
	api.Job
	Run    int64          `json:"run,omitempty"`            // of its plan; 0: not issued yet
	Source *api.ImageSpec `json:"source,omitempty"`         // the image that the node gets, once it is registered
	Kill   bool           `json:"kill,omitempty"`           // an operator does not wait for its grace
	Upload string         `json:"upload,omitempty"`         // URL that its files are put below
	Sealed string         `json:"sealed_secrets,omitempty"` // the secrets, if sledd has a key for them; secrets is empty then
}

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

func (j *Job) name() string { return "job" }

func (j *Job) state() string { return "taken by job " + j.ID }

// steps fetch the image and run it; none: the image is not registered.
func (j *Job) steps() []operand.Line {
	if j.Source == nil {
		return nil
	}
	fetch := []operand.Pair{{Key: "image", Value: strings.Join(j.Source.URLs, ",")},
		{Key: "digest", Value: j.Source.Digest}}
	if j.Source.Signature != "" {
		fetch = append(fetch, operand.Pair{Key: "name", Value: j.Source.Name},
			operand.Pair{Key: "statement", Value: j.Source.Statement},
			operand.Pair{Key: "signature", Value: j.Source.Signature})
	}
	run := []operand.Pair{{Key: "job", Value: j.ID}, {Key: "upload", Value: j.Upload},
		{Key: "timeout", Value: strconv.Itoa(j.Timeout)}, {Key: "grace", Value: strconv.Itoa(j.Grace)}}
	if j.Privileged {
		run = append(run, operand.Pair{Key: "privileged", Value: "yes"})
	}
	return []operand.Line{{Word: "fetch", Operands: append(fetch, operand.Pair{Key: "as", Value: "root"})},
		{Word: "run", Operands: run}}
}

// Last reports whether the end of a step is that of the job.
func Last(line report.Line) bool { return line.Code != 0 || line.Ran != nil }

// End returns the job after the end of its last step. missing is what of its files has not arrived as it was sent;
// empty: nothing.
func (j *Job) End(line report.Line, missing string, now time.Time) api.Job {
	if line.Code != 0 {
		ended := j.Finish(api.JobFailed, "sled", line.Reason, now)
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
	if missing = cmp.Or(missing, notSent(line.Ran.Missing)); missing != "" {
		ended.Reason = api.Clean(missing)
		if state == api.JobDone {
			ended.State = api.JobLost
		}
	}
	return ended
}

func notSent(streams string) string {
	if streams == "" {
		return ""
	}
	return "the boot server has not taken all of " + streams
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
func CheckImage(job api.JobSpec, image api.ImageSpec, node api.NodeSpec) error {
	has, wants := cmp.Or(image.Architecture, x86), cmp.Or(node.Architecture, x86)
	container := cmp.Or(image.Container, &api.Container{})
	switch {
	case image.Holds() != api.RootImage:
		return fmt.Errorf("image %s has kind %s, and jobs run images of kind root", image.Name, image.Holds())
	case has != wants:
		return fmt.Errorf("image %s is for %s, node %s is %s", image.Name, has, node.Name, wants)
	case len(job.Entrypoint)+len(job.Command)+len(container.Entrypoint)+len(container.Command) == 0:
		return fmt.Errorf("image %s has neither an entry point nor a command: give one to the job", image.Name)
	}
	return nil
}

const x86 = "x86_64"
