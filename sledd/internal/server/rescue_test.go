// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

const (
	operatorKey = sshkeys.Alice + " alice"
	hostKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	print1      = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
	rescuePlan  = "rescue keys=ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl%20" +
		"alice\n"
)

func (s *sledd) rescue(keys ...string) api.Node {
	s.Helper()
	return as[api.Node](s.T, s.admin(http.StatusOK, "PUT", "/v1/nodes/n1/rescue", api.RescueSpec{AuthorizedKeys: keys}))
}

func (s *sledd) endRescue() {
	s.Helper()
	s.admin(http.StatusNoContent, "DELETE", "/v1/nodes/n1/rescue", nil)
}

// enter polls for the rescue and does its step.
func enter(t *testing.T, m *sleddtest.Machine) {
	t.Helper()
	if plan := m.Poll(5); !strings.HasSuffix(plan, rescuePlan) || strings.Count(plan, "\n") != 3 {
		t.Fatalf("plan under rescue: %q", plan)
	}
	m.Report("begin step=1 of=1 verb=rescue")
	m.Report("end step=1 verb=rescue code=0 seconds=0.4 detail=10.77.0.50%20" + strings.ReplaceAll(hostKey, " ", "%20"))
}

// operational brings n1 there and gives the status that it has then.
func operational(s *sledd) api.Status {
	s.Helper()
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Fulfil()
	return s.Node(1).Status
}

func TestRescueOfAnOperationalNode(t *testing.T) {
	s := fresh(t)
	before := operational(s)
	if node := s.rescue(operatorKey); node.Rescue == nil || node.Status.Phase != api.Operational {
		t.Fatalf("%+v", node)
	}
	m := s.Machine(1)
	if m.Token == "" {
		t.Fatal("a node under rescue boots its disk")
	}
	s.phase(1, api.Operational)
	enter(t, m)
	node := s.Node(1)
	if r := node.Rescue; r == nil || r.Address.String() != "10.77.0.50" || r.HostKey.String() != hostKey ||
		r.Fingerprint.String() != print1 ||
		r.Entered.IsZero() {
		t.Fatalf("%+v", node.Rescue)
	}
	if node.Status.Phase != api.UnderRescue || node.Status.Before != api.Operational || !node.Binding.Satisfied ||
		node.Status.Generation != before.Generation {
		t.Fatalf("%+v", node)
	}
	if m.Poll(0) != "" {
		t.Fatal("the rescue was given twice")
	}
	if seed := s.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, ""); seed.Status != http.StatusForbidden {
		t.Errorf("seed under rescue: %d %s", seed.Status, seed.Body)
	}
	s.endRescue()
	s.phase(1, api.Operational)
	if plan := m.Poll(5); plan != "plan 1\ngeneration 1 run 3\nreboot\n" {
		t.Fatalf("the end of a rescue: %q", plan)
	}
	m.Report("begin step=1 of=1 verb=reboot")
	m.Report("end step=1 verb=reboot code=0 seconds=0")
	after := s.Node(1).Status
	after.Since, after.Seen, after.BootID, after.Run = before.Since, before.Seen, before.BootID, before.Run
	if *after.OS != *before.OS {
		t.Errorf("the system is %+v, was %+v", after.OS, before.OS)
	}
	after.OS = before.OS
	if after != before {
		t.Errorf("after the rescue:\n%+v\nbefore:\n%+v", after, before)
	}
	if again := s.Machine(1); again.Token != "" {
		t.Error("it does not boot its disk again")
	}
	if told, want := rescueEvents(t, s), "started, 1 keys\nentered: root@10.77.0.50, host key "+print1+
		"\nended\n"; told != want {
		t.Errorf("events: %q, want %q", told, want)
	}
}

// rescueEvents are the details of the rescue's events, one per line.
func rescueEvents(t *testing.T, s *sledd) string {
	t.Helper()
	told := ""
	for _, event := range as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items {
		if event.Kind == "rescue" {
			told += event.Detail.String() + "\n"
		}
	}
	return told
}

func TestRescueOfAWaitingNode(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=1 verb=idle")
	for i := range 2 { // the second time the reports are the same ones
		s.rescue(operatorKey)
		enter(t, m)
		s.phase(1, api.UnderRescue)
		s.endRescue()
		s.phase(1, api.Idle)
		if plan := m.Poll(5); plan != fmt.Sprintf("plan 1\ngeneration 0 run %d\nidle\n", 3+2*i) {
			t.Fatalf("the end of a rescue: %q", plan)
		}
		m.Report("begin step=1 of=1 verb=idle")
		s.phase(1, api.Idle)
		if m.Poll(0) != "" {
			t.Fatal("a node that waits again was given something")
		}
	}
}

// TestRescueWaits: nothing is wiped under rescue; what was requested in the meantime runs afterwards.
func TestRescueWaits(t *testing.T) {
	s := fresh(t)
	operational(s)
	s.rescue(operatorKey)
	m := s.Machine(1)
	enter(t, m)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	if plan := m.Poll(0); plan != "" {
		t.Fatalf("given under rescue: %q", plan)
	}
	m = s.Machine(1) // a new token, of the newer generation, and the rescue again
	enter(t, m)
	s.endRescue()
	if plan := m.Poll(5); !strings.HasPrefix(plan, "plan 1\ngeneration 2 run 4\nwipe ") {
		t.Fatalf("after the rescue: %q", plan)
	}
	m.Report("begin step=1 of=4 verb=wipe")
	s.phase(1, api.Wiping)
}

func TestRescueOfAFailedNode(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Fail(4, "two disks match")
	s.rescue(operatorKey)
	enter(t, m)
	s.endRescue()
	if plan := m.Poll(5); plan != "plan 1\ngeneration 1 run 3\nidle\n" {
		t.Fatalf("a failed node that leaves its rescue: %q", plan)
	}
	m.Report("begin step=1 of=1 verb=idle")
	if status := s.Node(1).Status; status.Phase != api.Failed || status.Reason.String() != "two disks match" ||
		status.Verb != "wipe" || status.Code != 4 {
		t.Errorf("%+v", status)
	}
}

// TestRescueOfAnInterruptedNode: a node that was cut off in the middle boots after the rescue, and begins again.
func TestRescueOfAnInterruptedNode(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=4 verb=wipe")
	s.rescue(operatorKey)
	m.Reboot()
	enter(t, m)
	s.endRescue()
	s.phase(1, api.Wiping)
	if plan := m.Poll(5); plan != "plan 1\ngeneration 1 run 3\nreboot\n" {
		t.Fatalf("the end of a rescue: %q", plan)
	}
	m.Report("begin step=1 of=1 verb=reboot", "end step=1 verb=reboot code=0 seconds=0")
	m.Reboot()
	s.phase(1, api.Booting)
	if plan := m.Poll(0); !strings.HasPrefix(plan, "plan 1\ngeneration 1 run 4\nwipe ") {
		t.Fatalf("after the rescue: %q", plan)
	}
}

func TestRescueWithOtherKeysIsGivenAnew(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	m := s.Machine(1)
	s.rescue(sshkeys.Bob + " bob")
	if plan := m.Poll(0); plan != "plan 1\ngeneration 0 run 1\nrescue keys="+
		strings.ReplaceAll(sshkeys.Bob+" bob", " ", "%20")+"\n" {
		t.Fatal(plan)
	}
	m.Report("begin step=1 of=1 verb=rescue", "end step=1 verb=rescue code=1 seconds=0.1 reason=no%20keys")
	if r := s.Node(1).Rescue; r.Reason.String() != "no keys" {
		t.Errorf("%+v", r)
	}
	s.rescue(operatorKey)
	enter(t, m)
	if r := s.Node(1).Rescue; !r.Reason.IsZero() || r.Address.IsZero() {
		t.Errorf("%+v", r)
	}
	s.endRescue()
	m.Reboot() // nobody asked before it was switched off
	if plan := m.Poll(0); plan != "plan 1\ngeneration 0 run 3\nidle\n" {
		t.Fatal(plan)
	}
	s.phase(1, api.Idle)
}

func TestRescueRefusals(t *testing.T) {
	s := fresh(t)
	s.admin(http.StatusNotFound, "PUT", "/v1/nodes/"+address(1)+"/rescue",
		api.RescueSpec{AuthorizedKeys: []string{operatorKey}})
	s.Declare(1)
	s.admin(http.StatusNotFound, "DELETE", "/v1/nodes/n1/rescue", nil)
	for name, keys := range map[string][]string{"none": {}, "a line break": {"a\nb"}, "empty": {""},
		"too long": {strings.Repeat("a", 1500), strings.Repeat("b", 1500)}} {
		if a := s.admin(http.StatusUnprocessableEntity, "PUT", "/v1/nodes/n1/rescue",
			api.RescueSpec{AuthorizedKeys: keys}); !strings.Contains(a.Body, "authorized_keys") {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	if s.Node(1).Rescue != nil {
		t.Error("a refused rescue was stored")
	}
	s.rescue(operatorKey)
	list := as[api.NodeList](t, s.admin(200, "GET", "/v1/nodes", nil))
	if len(list.Items) != 1 || list.Items[0].Rescue == nil {
		t.Errorf("the list does not show the rescue: %+v", list)
	}
	s.admin(http.StatusNoContent, "DELETE", "/v1/nodes/n1", nil)
	s.Declare(1)
	if s.Node(1).Rescue != nil {
		t.Error("a deleted node kept its rescue")
	}
}

// A rescue ends the payload of a job before people enter, and a job that was not started at once.
func TestRescueCancelsAJob(t *testing.T) {
	for name, runs := range map[string]bool{"waiting": false, "running": true} {
		s := fresh(t)
		s.RegisterRoot("hpl")
		s.Declare(1)
		m := s.Machine(1)
		m.Poll(0)
		job := as[api.Job](t, s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl"}))
		if runs {
			m.Poll(1)
			m.Report("begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1", "begin step=2 of=2 verb=run")
		}
		s.rescue(operatorKey)
		if runs {
			signal := s.Ask("GET", "/node/v1/"+m.MAC+"/job/signal?job="+job.ID, m.Token, "")
			if signal.Body != "TERM\n" {
				t.Errorf("the payload gets %d: %q", signal.Status, signal.Body)
			}
			m.Report("end step=2 verb=run code=0 seconds=1 signal=15 by=cancel out=0 err=0 files=0")
		}
		job = as[api.Job](t, s.admin(http.StatusOK, "GET", "/v1/jobs/"+job.ID, nil))
		if job.State != api.JobCancelled || job.EndedBy != "cancel" {
			t.Errorf("%s: %+v", name, job)
		}
		enter(t, m)
		s.endRescue()
		if plan := m.Poll(5); !strings.HasSuffix(plan, "\nidle\n") {
			t.Errorf("%s: then %q", name, plan)
		}
	}
}
