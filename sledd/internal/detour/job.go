// SPDX-License-Identifier: Apache-2.0

package detour

import (
	"cmp"
	"fmt"
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

func (j *Job) name() string { return "job" }

func (j *Job) state() string { return "taken by job " + j.ID }

// steps fetch the image and run it.
func (j *Job) steps() []operand.Line { return nil }

// end is not called: the intake ends a job, as its record is kept.
func (j *Job) end(of Detour, _ report.Line, _ api.Address, _ time.Time) (Detour, api.Event) {
	return of, api.Event{Kind: "job"}
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
