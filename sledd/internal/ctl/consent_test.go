// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// imaged is a sledd with n nodes in rack a that run image d12.
func imaged(t *testing.T, n int) session {
	t.Helper()
	s := begin(t)
	s.Register("d12")
	s.Register("d13")
	for i := range n {
		s.Declare(i + 1)
		s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i+1), Image: "d12"})
		m := s.Machine(i + 1)
		m.Say("facts", fmt.Sprintf("facts 1\nboot %s\ndisk name=vda serial=LAB-%04d model=PM9A3 bytes=1920383410176\n",
			m.Boot, i+1))
		m.Fulfil()
	}
	return s
}

// stored is all that a change of bindings or nodes changes.
func (s session) stored() string {
	s.Helper()
	return s.does(exitDone, "node list -o json", "").out + s.does(exitDone, "binding list -o json", "").out
}

// asked runs a command line on a terminal, where a person types an answer.
func (s session) asked(code int, answer, line, want string) {
	s.Helper()
	var out, err ctltest.Buffer
	environment := map[string]string{"SLED_SERVER": s.URL, "SLED_TOKEN": token}
	got := Run(s.Context(), strings.Fields(line), System{
		Printer: show.Printer{Out: &out, Err: &err, Screen: ctltest.Terminal(80), Now: ctltest.Now},
		In:      strings.NewReader(answer), Interactive: true,
		Getenv: func(name string) string { return environment[name] }})
	if text := strings.Join(strings.Fields(err.String()), " "); got != code || !strings.Contains(text, want) {
		s.Errorf("sledctl %s: exit %d, want %d and %q; said\n%s", line, got, code, want, err.String())
	}
	ctltest.CheckWidth(s.T, line, err.String(), 80)
}

func TestManyReimagesNeedConsent(t *testing.T) {
	s := imaged(t, 20)
	before := s.stored()
	const bind = "bind -l rack=a --image d13"
	refused := s.does(exitConflict, bind, "20 nodes would be imaged again, --max-reimages is 1: nothing was changed")
	s.does(exitConflict, bind,
		"n7: serial:LAB-0007 (PM9A3, 1.9 TB), generation 1 -> 2, image d12 -> d13; at its next boot")
	s.does(exitConflict, "bind -l rack=a --wipe-only", "image d12 -> none")
	s.does(exitConflict, bind+" --yes --max-reimages 19", "20 nodes would be imaged again")
	s.does(exitConflict, "bind n1 --image d13 --max-reimages 0", "1 node would be imaged again")
	s.does(exitUsage, bind+" --max-reimages -1", "--max-reimages -1: expected 0 or more")
	s.does(exitUsage, bind+" --max-wipes -1", "--max-wipes -1: expected 0 or more")
	s.does(exitConflict, bind+" --yes --max-wipes 19", "20 nodes would be wiped, --max-wipes is 19: nothing was changed")
	dry := s.does(exitDone, bind+" --dry-run", "20 of 20 nodes to wipe:").out
	for i := 1; i <= 20; i++ {
		if line := fmt.Sprintf("  n%d: serial:LAB-%04d ", i, i); strings.Count(dry, line) != 1 {
			t.Errorf("the dry run does not name %q once:\n%s", line, dry)
		}
	}
	if refused.out != "" {
		t.Errorf("a refused change printed %q", refused.out)
	}
	if after := s.stored(); after != before {
		t.Errorf("a refused change changed\n%s\nto\n%s", before, after)
	}
	s.does(exitDone, bind+" --max-reimages 20", "20 of 20 nodes to wipe:")
	s.does(exitDone, "bind -l rack=a --image d12 --yes", "3 ")
	s.does(exitDone, "bind -l rack=a --verify full", "0 of 20 nodes to wipe")
}

// A fault is named once, with the nodes that have it, and not by the place of an item in the request.
func TestFaultsOfManyNodes(t *testing.T) {
	s := imaged(t, 3)
	for line, want := range map[string]string{
		"bind n1 n2 n3 --image none":            ": image none does not exist (3 nodes) (422",
		"bind n2 --image none":                  ": n2: image none does not exist (422",
		"bind n1 n2 --image d13 --disk nothing": " (2 nodes) (422",
	} {
		got := s.does(exitUsage, line+" --yes", want)
		if text := got.out + got.err; strings.Contains(text, "items[") || strings.Contains(text, "items 1") {
			t.Errorf("%s:\n%s", line, text)
		}
	}
}

func TestDryRunPrintsOutlooks(t *testing.T) {
	s := imaged(t, 1)
	var outlooks []api.Outlook
	got := s.does(exitDone, "bind n1 --reimage --dry-run -o json", "")
	if err := json.Unmarshal([]byte(got.out), &outlooks); err != nil || len(outlooks) != 1 || !outlooks[0].Again() ||
		outlooks[0].When != api.NextBoot {
		t.Errorf("%v: %+v", err, got)
	}
	s.does(exitDone, "bind n1 --verify full --dry-run", "n1: the binding changes, nothing is wiped, image d12 stays")
	s.does(exitDone, "bind n1 --image d12 --dry-run", "n1: nothing changes")
	s.does(exitUsage, "bind n1 --image nothing --dry-run", "image nothing does not exist")
}

// First images lose nothing of Sled's: the limit does not count them, and the preview does not hide them.
func TestFirstImagesAreNotCounted(t *testing.T) {
	s := begin(t)
	s.Register("d12")
	for i := 1; i <= 3; i++ {
		s.Declare(i)
	}
	s.does(exitConflict, "bind n1 n2 n3 --image d12 --max-wipes 2", "3 nodes would be wiped, --max-wipes is 2")
	s.does(exitDone, "bind n1 n2 n3 --image d12 --max-reimages 0 --max-wipes 3",
		"3 of 3 nodes to wipe, 3 of them for the first time:")
	s.does(exitConflict, "bind n1 n2 n3 --reimage", "3 nodes would be imaged again")
}

func TestPersonIsAsked(t *testing.T) {
	s := imaged(t, 2)
	before := s.stored()
	for _, answer := range []string{"n\n", "\n", "", "yess\n"} {
		s.asked(exitFailed, answer, "bind n1 n2 --image d13", "not confirmed: nothing was changed")
		s.asked(exitFailed, answer, "unbind n1 n2", "not confirmed: nothing was changed")
	}
	s.asked(exitConflict, "y\n", "bind n1 n2 --image d13 --max-reimages 1", "--max-reimages is 1")
	if after := s.stored(); after != before {
		t.Errorf("changed without consent:\n%s\nto\n%s", before, after)
	}
	s.asked(exitDone, "", "bind n1 --verify full", "0 of 1 node to wipe") // nothing to lose, nothing to ask
	s.asked(exitDone, "Yes\n", "bind n1 n2 --image d13", "Wipe 2 nodes? [y/N]")
	s.asked(exitDone, "", "bind n1 n2 --image d12 --yes", "2 of 2 nodes to wipe")
	s.asked(exitConflict, "y\n", "node delete n1", "delete the binding first")
	s.asked(exitDone, "y\n", "unbind n1 n2", "n1: d12 is no longer requested (generation 3, not done yet)")
	s.asked(exitFailed, "n\n", "node delete n1", "Delete node n1? [y/N] sledctl: not confirmed")
	s.asked(exitDone, "y\n", "node delete n1", "n1: operational, image d12; declaration, facts, log and events are lost")
}

func TestInterruptedQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, _ := io.Pipe()
	if answer, err := readAnswer(ctx, never); err == nil {
		t.Errorf("answered %q", answer)
	}
}

func TestDryRunsOfDeletions(t *testing.T) {
	s := imaged(t, 2)
	s.Declare(3)
	before := s.stored()
	s.does(exitDone, "unbind n1 n2 --dry-run", "2 of 2 bindings to delete, no disk is wiped:")
	s.does(exitNotFound, "unbind n1 n3 --dry-run", "n3 is not bound")
	s.does(exitConflict, "node delete n1 n3 --dry-run", "1 of 2 nodes to delete")
	if after := s.stored(); after != before {
		t.Errorf("a dry run changed\n%s\nto\n%s", before, after)
	}
	s.does(exitNotFound, "unbind n1 n3 n2", "binding n2 deleted")
}

// What was shown is what is done: another change in between is a conflict.
func TestChangeBetweenPreviewAndConsent(t *testing.T) {
	s := imaged(t, 1)
	var out, err ctltest.Buffer
	environment := map[string]string{"SLED_SERVER": s.URL, "SLED_TOKEN": token}
	got := Run(t.Context(), []string{"bind", "n1", "--wipe-only"}, System{
		Printer:     show.Printer{Out: &out, Err: &err, Now: ctltest.Now},
		Interactive: true, In: answering(func() { s.Bind(api.BindingSpec{Node: "n1", Image: "d13"}) }),
		Getenv: func(name string) string { return environment[name] }})
	if got != exitConflict || s.Node(1).Binding.Image != "d13" {
		t.Errorf("exit %d, bound to %+v, said %s", got, s.Node(1).Binding, err.String())
	}
}

// answering is a person who answers yes after something else was done.
type answering func()

func (a answering) Read(p []byte) (int, error) {
	a()
	return copy(p, "y\n"), nil
}

func TestWhenNodesActOnIt(t *testing.T) {
	s := imaged(t, 1)
	s.Declare(2)
	s.Bind(api.BindingSpec{Node: "n2", Image: "d12"})
	fail(s.Machine(2))
	s.does(exitDone, "bind n2 --image d13 --dry-run", "; now, if it still waits in the Sled system")
	_, _ = s.Client().PutRescue(t.Context(), "n1", api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice + " me"}})
	s.does(exitDone, "bind n1 --image d13 --dry-run", "; when its detour ends")
	s.does(exitDone, "bind n1 --image d13 --dry-run -o json", `"when": "`+api.AfterDetour+`"`)
}

func TestAReplacementIsConfirmed(t *testing.T) {
	s := imaged(t, 1)
	before := s.stored()
	const replace = "node replace n1 --mac 52:54:00:77:99:01"
	s.asked(exitDone, "", replace+" --dry-run", "")
	s.asked(exitFailed, "n\n", replace, "[y/N] sledctl: not confirmed")
	s.does(exitNotFound, "node replace n9 --mac 52:54:00:77:99:01 --yes", "n9")
	if after := s.stored(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
	s.asked(exitDone, "y\n", replace, "n1 gets MAC 52:54:00:77:99:01 instead of")
	s.asked(exitDone, "", replace, "n1 has MAC 52:54:00:77:99:01 already")
}

// An image that runs from memory wipes nothing, so nobody is asked; who waits for an operator later is told now.
func TestBindToMemory(t *testing.T) {
	s := imaged(t, 1)
	s.RegisterRoot("root")
	const bind = "bind n1 --image root --allow-unsigned --admission expected --max-wipes 0"
	s.asked(exitDone, "", bind+" --dry-run=false", "0 of 1 node to wipe: n1: runs root (root, ")
	s.does(exitDone, bind+" --reimage --keys testdata/key.pub",
		"n1: warning: it has keys, so after a power cut it waits for an operator")
	s.does(exitDone, "node get n1", "runs image root from memory")
	_, err := s.Client().PutImage(t.Context(), api.ImageSpec{Name: "k", Kind: api.KernelImage,
		Digest: sleddtest.DigestOf("k"), URLs: []string{"http://10.77.0.1/images/k"}, Bytes: 512, FileBytes: 1,
		Kernel: &api.Kernel{Release: "6.12"}})
	if err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "bind n1 --kernel k", "n1: runs root (root, ")
	s.does(exitDone, "node get n1 -o json", `"kernel": "k"`)
	s.does(exitConflict, "image delete k", "image k is the kernel that node n1 is bound to")
	s.does(exitDone, `bind n1 --kernel=`, "n1: runs root (root, ")
}
