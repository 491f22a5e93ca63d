// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
)

func TestRunPrintsWhatItWaitsFor(t *testing.T) {
	s := newJobServer()
	on := func(j *api.Job) { j.Kernel, j.Release = "k", "6.1.0-56" }
	up := func(j *api.Job) {
		j.Before, j.Release = "6.1.0-56", "6.12.107"
		j.KernelUp, j.Started = ctltest.Noon.Add(5200*time.Millisecond), ctltest.Noon.Add(6300*time.Millisecond)
	}
	s.states = []func(*api.Job){
		s.has(api.JobWaiting, nil, func(*api.Job) {
			s.node.Wait = &api.Wait{Kind: api.WaitsForBoot, For: "its next boot"}
		}),
		s.has(api.JobWaiting, nil, func(*api.Job) {
			s.node.Wait = &api.Wait{Kind: api.WaitsForAdmit, For: "an operator", EndsBy: "sledctl admit n1 CODE"}
		}),
		s.has(api.JobPreparing, nil, on, func(*api.Job) { s.node.Wait = nil }),
		s.has(api.JobRunning, nil, up),
		s.has(api.JobDone, nil, up, func(j *api.Job) { s.exits(0)(j) }),
	}
	const said = "n1  job 1kq7d2g3r9qa waits for the node, which waits for its next boot\n" +
		"n1  job 1kq7d2g3r9qa waits for the node, which waits for an operator; `sledctl " +
		"admit n1 CODE` ends it\n" +
		"n1  job 1kq7d2g3r9qa: the node starts kernel k\n" +
		"n1  kernel 6.1.0-56 -> 6.12.107  5.2 s  image hpl 79.00MB  1.1 s  job " +
		"1kq7d2g3r9qa runs\n"
	if got := s.sledctl(t, 0, "run", "n1", "hpl", "--kernel", "k"); !strings.HasPrefix(got.err, said) {
		t.Errorf("standard error:\n%swant:\n%s", got.err, said)
	}
}

// A payload of kind kernel has the machine: that it came back is not known until it is admitted.
func TestRunPrintsWhatAdmitsANodeThatCameBack(t *testing.T) {
	s := newJobServer()
	payload := func(j *api.Job) { j.Confirm = api.ConfirmNone }
	s.states = []func(*api.Job){
		s.has(api.JobRunning, nil, payload, func(*api.Job) {
			s.node.Wait = &api.Wait{Kind: api.WaitsForPayload, For: "the end of its job"}
		}),
		s.has(api.JobRunning, nil, payload, func(*api.Job) {
			s.node.Wait = &api.Wait{Kind: api.WaitsForAdmit, For: "a reset", EndsBy: "sledctl admit n1 --within 10m --reset"}
		}),
		s.has(api.JobDone, nil, payload, func(j *api.Job) { s.exits(0)(j); j.EndedBy = "node" }),
	}
	const runs = "n1  image hpl 79.00MB  1.1 s  job 1kq7d2g3r9qa runs"
	const said = runs + "\nn1  waits for a reset; `sledctl admit n1 --within 10m --reset` ends it\n" +
		"job 1kq7d2g3r9qa: exit 0"
	got := strings.ReplaceAll(s.sledctl(t, 0, "run", "n1", "hpl").err, "\n  ", " ")
	if !strings.HasPrefix(got, said) {
		t.Errorf("standard error:\n%swant:\n%s", got, said)
	}
}
