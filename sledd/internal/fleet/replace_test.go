// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/seal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

func (r *rack) replace(reference string, i int) (api.Node, error) {
	return r.ReplaceNode(r.Context(), reference, api.ReplaceSpec{MAC: address(i)}, nodetx.Wanted{})
}

// replaced gives node 1 the MAC 9.
func (r *rack) replaced() api.Node {
	r.Helper()
	node, err := r.replace("n1", 9)
	if err != nil {
		r.Fatal(err)
	}
	return node
}

func (r *rack) view(i int) *nodetx.Tx {
	r.Helper()
	tx, err := r.Load(r.Context(), address(i))
	if err != nil {
		r.Fatal(err)
	}
	return tx
}

// running is a node 1 that runs an image, with user data that is sealed.
func running(t *testing.T) *rack {
	t.Helper()
	r := newRackAt(t, admission.Open)
	file := filepath.Join(t.TempDir(), "keys")
	err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)+"\n"), 0o600)
	if err == nil {
		r.Box, err = seal.Load(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.register("d12")
	change := binding(1, "d12")
	change.UserData, change.Owner = "#cloud-config\n", "terraform:rack-a"
	r.bind(change)
	r.observe(1, api.Status{Phase: api.Operational, Generation: 1, Image: "d12", Seen: now})
	return r
}

func TestAReplacedNodeKeepsWhatItIs(t *testing.T) {
	r := running(t)
	before := r.node(1)
	node := r.replaced()
	if node.MAC != address(9) || node.Name != "n1" || !node.Declared || !reflect.DeepEqual(node.Labels, before.Labels) ||
		node.Disk != before.Disk || !node.Binding.Satisfied || node.Binding.Generation != 1 ||
		node.Binding.Owner != "terraform:rack-a" || node.Binding.MAC != address(9) ||
		node.Status.Phase != api.Operational || node.Status.Image != "d12" {
		t.Errorf("%+v", node)
	}
	stored := r.node(9)
	if stored.Revision != node.Revision || !reflect.DeepEqual(stored.NodeSpec, node.NodeSpec) ||
		stored.Binding.UserDataSHA256 != before.Binding.UserDataSHA256 {
		t.Errorf("answered: %+v, stored: %+v", node, stored)
	}
	if text, err := r.UserData(r.view(9).Binding()); err != nil || text != "#cloud-config\n" {
		t.Errorf("user data: %q, %v", text, err)
	}
	if mac, err := r.Resolve(t.Context(), "n1"); err != nil || mac != address(9) {
		t.Error(mac, err)
	}
	if _, err := r.Node(t.Context(), address(1)); !refusal.Is(err, refusal.NotFound) {
		t.Errorf("the old MAC: %v", err)
	}
	events, err := r.Events(t.Context(), "n1", 100)
	var kinds []string
	for _, event := range events.Items {
		kinds = append(kinds, event.Kind)
	}
	if err != nil || strings.Join(kinds, " ") != "declare bind replace" {
		t.Errorf("%v, %v", kinds, err)
	}
	again, err := r.replace("n1", 9) // the response was lost
	if err != nil || again.Revision != node.Revision {
		t.Errorf("%+v, %v", again, err)
	}
}

// credentials has a token and an admitted machine under both MACs.
func (r *rack) credentials(numbers ...int) {
	r.Helper()
	for _, i := range numbers {
		code := fmt.Sprintf("AAAA-000%d", i)
		r.hello(i, code)
		if _, err := r.Expect(r.Context(), address(i), api.ExpectSpec{By: "power", Seconds: 900}); err != nil {
			r.Fatal(err)
		}
		if !r.speaks(i, code) {
			r.Fatalf("%d is not admitted", i)
		}
		err := r.Update(r.Context(), address(i), nil, func(tx *nodetx.Tx) error {
			_, record := token.Mint(token.Boot, address(i), 1, tx.Now, time.Hour)
			tx.SetTokens(append(tx.Tokens(), record))
			return nil
		})
		if err != nil {
			r.Fatal(err)
		}
	}
}

func TestNoTokenOrIncumbentSurvivesAReplacement(t *testing.T) {
	r := running(t)
	r.observe(9, api.Status{Phase: api.Discovered})
	r.credentials(1, 9)
	r.hello(1, "BBBB-0001")
	r.speaks(1, "AAAA-0001") // a rival: an alarm
	node := r.replaced()
	if node.AdmissionState != "none" || len(node.WaitingClaims) != 0 {
		t.Errorf("%+v", node.NodeAdmission)
	}
	if len(node.Alarms) != 1 || node.Alarms[0].Kind != "rival" {
		t.Errorf("an alarm that nobody has read is lost: %+v", node.Alarms)
	}
	for _, i := range []int{1, 9} {
		tx := r.view(i)
		if state := tx.Admission(); len(tx.Tokens()) != 0 || state.Incumbent != nil || len(state.Claims) != 0 ||
			state.Window != nil {
			t.Errorf("%d: tokens %+v, admission %+v", i, tx.Tokens(), state)
		}
		if r.speaks(i, fmt.Sprintf("AAAA-000%d", i)) {
			t.Errorf("the machine of MAC %d is still admitted", i)
		}
	}
}

func TestAReplacementDoesNotLowerTheLevel(t *testing.T) {
	r := running(t)
	r.hello(1, first)
	if _, err := r.Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: first}}); err != nil {
		t.Fatal(err)
	}
	r.speaks(1, first)
	r.replaced()
	r.hello(9, other)
	if r.speaks(9, other) {
		t.Error("whoever has the new MAC is admitted without evidence")
	}
	if shown := r.state(9, "waiting"); shown.Required != "proven" {
		t.Errorf("%+v", shown)
	}
}

func TestAReplacementDecreasesNoGeneration(t *testing.T) {
	r := running(t)
	r.observe(9, api.Status{Generation: 7}) // of a node that was deleted
	node := r.replaced()
	if node.Binding.Generation != 7 || node.Status.Generation != 7 || !node.Binding.Satisfied {
		t.Errorf("%+v, %+v", node.Binding, node.Status)
	}
	if generation := r.view(1).Status().Generation; generation != 1 {
		t.Errorf("the old MAC has generation %d", generation)
	}
}

func TestReplacementsThatAreRefused(t *testing.T) {
	r := running(t)
	_, err := r.replace("n1", 2)
	r.refused("the MAC of another node", err, refusal.Conflict, "belongs to node n2")
	_, err = r.ReplaceNode(t.Context(), "n1", api.ReplaceSpec{MAC: "01:00:5e:00:00:01"}, nodetx.Wanted{})
	r.refused("an address of a group", err, refusal.Invalid, "01:00:5e:00:00:01")
	_, err = r.replace("n7", 9)
	r.refused("an unknown node", err, refusal.NotFound, "n7")
	_, err = r.replace(address(8), 9)
	r.refused("a node that is not declared", err, refusal.NotFound, "is not declared")
	revision := int64(1000)
	_, err = r.ReplaceNode(t.Context(), "n1", api.ReplaceSpec{MAC: address(9)}, nodetx.Exactly(&revision))
	r.refused("another revision", err, refusal.Precondition, "expected")
	rollout := `{"name":"reimage-7","state":"running","macs":["` + address(2) + `","` + address(1) + `"]}`
	var change store.Transaction
	change.Put(key.Rollouts+"reimage-7", []byte(rollout))
	if _, err := r.memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	_, err = r.replace("n1", 9)
	r.refused("a node of a running rollout", err, refusal.Conflict, "is in rollout reimage-7")
	change = store.Transaction{}
	change.Put(key.Rollouts+"reimage-7", []byte(strings.Replace(rollout, "running", "done", 1)))
	if _, err := r.memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	rescue := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice + " a"}}
	if _, err := r.PutRescue(t.Context(), "n1", rescue, false); err != nil {
		t.Fatal(err)
	}
	_, err = r.replace("n1", 9)
	r.refused("a node under rescue", err, refusal.Conflict, "node n1 is under rescue")
	r.Box = nil
	if err := r.DeleteRescue(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	_, err = r.replace("n1", 9)
	r.refused("sealed user data without its key", err, refusal.Conflict, "cannot be moved")
	if node := r.node(1); node.Name != "n1" || node.Binding == nil || r.view(9).Known() {
		t.Errorf("a refused replacement has changed %+v", node)
	}
}

// Whichever call to the store fails, the node is either the old or the new one.
func TestAReplacementIsAllOrNothing(t *testing.T) {
	down := &store.UnavailableError{Operation: "test", Err: errors.New("down")}
	for calls, done := 0, false; !done; calls++ {
		r := running(t)
		for i := range 200 {
			if err := r.Note(t.Context(), "n1", api.NodeEvent{Kind: "power", Detail: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		left := calls
		r.memory.Before(func(string) error {
			if left--; left < 0 {
				return down
			}
			return nil
		})
		_, err := r.replace("n1", 9)
		r.memory.Before(nil)
		done = err == nil
		mac, found := r.Resolve(t.Context(), "n1")
		if found != nil || (mac == address(9)) != done {
			t.Fatalf("after %d calls: %v; n1 is %s, %v", calls, err, mac, found)
		}
		events, listed := r.Events(t.Context(), "n1", 500)
		if want := 202; listed != nil || len(events.Items) != want && len(events.Items) != want+1 {
			t.Errorf("after %d calls: %d events, %v", calls, len(events.Items), listed)
		}
		if calls > 20 {
			t.Fatal("it never ends")
		}
	}
}
