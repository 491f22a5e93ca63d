// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// followEvery is the time between two polls of a job: its node sends output once a second.
const followEvery = 500 * time.Millisecond

// stream is an output of a payload, or the tar of its artefacts, in parts that its node numbers.
type stream struct {
	name  string // of its files
	to    io.Writer
	next  int
	bytes int64
	sum   hash.Hash
}

// follower copies the output of a job as it arrives.
type follower struct {
	*app
	client  *api.Client
	job     api.Job
	every   time.Duration
	signals <-chan os.Signal // that cancel the job; nil: an interrupt ends the follower alone
	quiet   bool             // prints nothing about the job
	once    bool             // copies what has arrived

	streams []*stream
	shown   string // line of the state
	hint    string // that was printed
	away    bool   // the server does not answer
	asked   int    // how often the job was cancelled
}

// run copies both outputs until the job has ended, and returns its exit code as an error.
func (f *follower) run(ctx context.Context) error {
	if f.signals != nil {
		ctx = context.WithoutCancel(ctx) // an interrupt cancels the job, whose end is still printed
	}
	f.streams = []*stream{{name: "out", to: f.Out, next: 1, sum: sha256.New()},
		{name: "err", to: f.Err, next: 1, sum: sha256.New()}}
	for {
		ended, err := f.poll(ctx)
		switch {
		case err == nil:
			f.away = false
		case api.IsUnreachable(err):
			f.unreachable(err)
		default:
			return err
		}
		if ended || f.once && err == nil {
			return f.end()
		}
		select {
		case <-time.After(f.every):
		case <-ctx.Done():
			return &endedError{exitInterrupted, errors.New("interrupted; the job continues")}
		case <-f.signals:
			if err := f.cancel(ctx); err != nil {
				return err
			}
		}
	}
}

// poll copies what has arrived. The state is read before: a job that has ended sends nothing more.
func (f *follower) poll(ctx context.Context) (ended bool, err error) {
	job, err := f.client.Job(ctx, f.job.ID)
	if err != nil {
		return false, err
	}
	f.job = job
	f.progress(ctx)
	for _, s := range f.streams {
		if err := f.copy(ctx, s); err != nil {
			return false, err
		}
	}
	return job.State.Ended(), nil
}

// copy writes the parts of a stream that have arrived since the last poll.
func (f *follower) copy(ctx context.Context, s *stream) error {
	if f.job.State == api.JobWaiting || f.job.State == api.JobPreparing {
		return nil
	}
	for {
		part, err := f.read(ctx, fmt.Sprintf("%s.%06d", s.name, s.next))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := s.to.Write(part); err != nil {
			return fmt.Errorf("write the output of the payload: %w", err)
		}
		_, _ = s.sum.Write(part)
		s.bytes, s.next = s.bytes+int64(len(part)), s.next+1
	}
}

// read reads one whole part, so that it is not written twice if the connection is lost.
func (f *follower) read(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.config.Timeout)
	defer cancel()
	file, err := f.client.JobFile(ctx, f.job.ID, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	part, err := io.ReadAll(file)
	if err != nil {
		return nil, &api.UnreachableError{Server: f.client.Server(), Err: err}
	}
	return part, nil
}

func (f *follower) unreachable(err error) {
	if !f.away {
		f.say("%v: it is asked again, the job continues meanwhile", err)
	}
	f.away = true
}

// cancel ends the payload after a signal: with SIGTERM, and with SIGKILL after the second one.
func (f *follower) cancel(ctx context.Context) error {
	f.asked++
	_, err := f.client.CancelJob(ctx, f.job.ID)
	switch {
	case api.IsConflict(err): // it has ended meanwhile
		return nil
	case err != nil:
		return fmt.Errorf("job %s continues: %w", f.job.ID, err)
	case f.asked == 1:
		f.say("job %s is cancelled: the payload gets SIGTERM, after its grace SIGKILL; again for SIGKILL now", f.job.ID)
	}
	return nil
}

// progress prints once how far the job is.
func (f *follower) progress(ctx context.Context) {
	line, job := "", f.job
	begun := cmp.Or(job.KernelUp, job.Prepared)
	switch {
	case job.State == api.JobWaiting && !job.Reason.IsZero():
		line = fmt.Sprintf("%s  job %s waits: %s", job.Node, job.ID, job.Reason.String())
	case job.State == api.JobWaiting:
		line = fmt.Sprintf("%s  job %s waits for the node%s", job.Node, job.ID, f.wait(ctx))
	case job.State == api.JobPreparing && job.Kernel != "" && job.KernelUp.IsZero():
		line = fmt.Sprintf("%s  job %s: the node starts kernel %s%s", job.Node, job.ID, job.Kernel, f.wait(ctx))
	case job.State == api.JobPreparing:
		line = fmt.Sprintf("%s  job %s: the node fetches image %s", job.Node, job.ID, job.Image)
	case job.State == api.JobRunning || !job.Started.IsZero():
		line = fmt.Sprintf("%s  %simage %s%s  %s  job %s runs", job.Node, jump(job), job.Image, f.size(ctx),
			wording.Seconds(job.Started.Sub(begun).Seconds()), job.ID)
	}
	if line != f.shown && line != "" {
		f.say("%s", line)
		f.shown = line
	}
	if hint := f.back(ctx); hint != f.hint {
		f.say("%s  %s", job.Node, hint)
		f.hint = hint
	}
}

// jump is how long the start of the kernel has taken; empty: the job has none.
func jump(job api.Job) string {
	if job.KernelUp.IsZero() {
		return ""
	}
	return fmt.Sprintf("kernel %s -> %s  %s  ", job.Before, job.Release,
		wording.Seconds(job.KernelUp.Sub(job.Prepared).Seconds()))
}

// wait is what the node waits for meanwhile; empty: nothing, or it is not known.
func (f *follower) wait(ctx context.Context) string {
	if f.quiet {
		return ""
	}
	node, err := f.client.Node(ctx, f.job.MAC)
	if err != nil || node.Wait == nil {
		return ""
	}
	return ", which " + cmp.Or(node.Wait.Hint(), node.Wait.Text())
}

// back is what a node waits for that came back from its payload, and what ends that; without one, as it was.
func (f *follower) back(ctx context.Context) string {
	if f.quiet || f.job.Confirm == "" || f.job.State != api.JobRunning {
		return f.hint
	}
	node, err := f.client.Node(ctx, f.job.MAC)
	if err != nil {
		return f.hint
	}
	return cmp.Or(node.Wait.Hint(), f.hint)
}

// size of the image, if it is known still.
func (f *follower) size(ctx context.Context) string {
	if f.quiet {
		return ""
	}
	image, err := f.client.Image(ctx, f.job.Image)
	if err != nil || image.FileBytes == 0 {
		return ""
	}
	return " " + wording.Bytes(image.FileBytes)
}

// say prints a line of sledctl, unless only the output is wanted.
func (f *follower) say(format string, args ...any) {
	if !f.quiet {
		_, _ = fmt.Fprintln(f.Err, f.Screen.Hang(wording.Clean(fmt.Sprintf(format, args...)), 2))
	}
}

// end prints how the job has ended, and returns its exit code.
func (f *follower) end() error {
	if !f.job.State.Ended() {
		return nil // once
	}
	f.say("%s", jobEnd(f.job))
	if err := f.complete(); err != nil && f.job.State == api.JobDone {
		return sledFailed(fmt.Errorf("job %s: %w", f.job.ID, err))
	}
	if code := jobExit(f.job); code != exitDone && !f.once {
		return &endedError{code: code}
	}
	return nil
}

// complete compares what was copied with what the node has sent.
func (f *follower) complete() error {
	for i, sent := range []*api.JobFile{f.job.Output, f.job.Errors} {
		s := f.streams[i]
		if sent == nil || sent.Bytes == s.bytes && sent.SHA256 == hex.EncodeToString(s.sum.Sum(nil)) {
			continue
		}
		return fmt.Errorf("the payload wrote %s to standard %s, and %s were read: files of jobs are removed after some "+
			"time", wording.Counted(sent.Bytes, "byte"), map[string]string{"out": "output", "err": "error"}[s.name],
			wording.Counted(s.bytes, "byte"))
	}
	return nil
}

// jobEnd is how a job has ended, as one line.
func jobEnd(j api.Job) string {
	line := fmt.Sprintf("job %s: %s", j.ID, j.State)
	switch {
	case j.Exit != nil:
		line = fmt.Sprintf("job %s: exit %d", j.ID, *j.Exit)
	case j.Signal != 0:
		line = fmt.Sprintf("job %s: signal %d", j.ID, j.Signal)
	}
	if j.Seconds > 0 {
		line += " after " + wording.Seconds(j.Seconds)
	}
	if j.EndedBy != "" && j.EndedBy != endedByPayload {
		line += ", ended by " + j.EndedBy
	}
	if j.State == api.JobLost {
		line += ", lost"
	}
	if !j.Reason.IsZero() {
		line += ": " + j.Reason.String()
	}
	if j.Energy != nil {
		line += "; " + wording.Energy(j.Energy)
	}
	then := map[string]string{api.AfterHold: "waits in the Sled system", api.AfterPoweroff: "switches itself off"}[j.After]
	if j.HasMachine() {
		then = "needs a power cycle, as its payload has the machine"
	}
	return fmt.Sprintf("%s; %s %s", line, cmp.Or(j.Node, j.MAC), cmp.Or(then, "continues as before"))
}

// Values of ended_by.
const (
	endedByPayload = "payload"
	endedByTimeout = "timeout"
	endedByCancel  = "cancel"
	endedBySled    = "sled"
)

// jobExit is the exit code for the end of a job.
func jobExit(j api.Job) int {
	switch {
	case j.EndedBy == endedByTimeout:
		return exitTimeout
	case j.State == api.JobCancelled || j.EndedBy == endedByCancel:
		return exitInterrupted
	case j.State != api.JobDone && j.EndedBy != "memory" && j.EndedBy != endedBySled: // 126 and 127 are Sled's
		return exitSled
	case j.Exit != nil:
		return *j.Exit
	case j.Signal != 0:
		return exitSignal + j.Signal
	}
	return exitSled
}
