// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

func TestARecordThatWasNotQueriedPanics(t *testing.T) {
	db, _ := fresh()
	loaded := load(t, db, node)
	row, err := db.LoadMany(t.Context(), []string{node}, nodetx.Node, nodetx.Status, nodetx.BindingOf)
	if err != nil {
		t.Fatal(err)
	}
	var unloaded nodetx.Slot[api.Rollout]
	for name, read := range map[string]func(){
		"facts": func() { loaded.Facts() }, "log": func() { loaded.Log() }, "image": func() { loaded.Image() },
		"holder of a name": func() { loaded.NameHolder() }, "events": func() { loaded.Events() },
		"DMI":             func() { loaded.DMI() },
		"tokens of a row": func() { row[0].Tokens() }, "detour of a row": func() { row[0].Detour() },
		"admission of a row": func() { row[0].Admission() },
		"kexecs of a row":    func() { row[0].Kexecs() }, "written to a row": func() { row[0].SetTokens(nil) },
		"revision": func() { loaded.RevisionOf(nodetx.Facts) }, "slot of a caller": func() { unloaded.Get() },
	} {
		func() {
			defer func() {
				if fault := fmt.Sprint(recover()); !strings.Contains(fault, "not queried") {
					t.Errorf("%s: %s", name, fault)
				}
			}()
			read()
		}()
	}
}

func TestWhatWasWantedIsRead(t *testing.T) {
	db, memory := fresh()
	var change store.Transaction
	change.Put(key.Facts+node, nodetx.Encode(api.Facts{BootID: nodetext.CleanIdentifier("b"),
		DMI: nodetexttest.Facts(map[string]string{"vendor": "QEMU"})}))
	change.Put(key.Logs+node, []byte("not JSON"))
	change.Put(key.Images+"d12", nodetx.Encode(nodetx.StoredImage{ImageSpec: api.ImageSpec{Name: "d12"}, Created: now}))
	change.Put(key.Names+"n1", []byte(node))
	change.Put(key.Event(node, 1), []byte(`{"kind":"older"}`))
	change.Put(key.Event(node, 2), []byte(`{"kind":"newer"}`))
	change.Put(key.Rollouts+"r", []byte(`{"name":"r"}`))
	revision, err := memory.Commit(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	var rollout, none nodetx.Slot[api.Rollout]
	tx := load(t, db, node, nodetx.Facts, nodetx.Log, nodetx.Image("d12"), nodetx.NameHolder("n1"), nodetx.Events(1),
		nodetx.Into(key.Rollouts+"r", &rollout), nodetx.Into(key.Rollouts+"none", &none))
	if tx.Facts().BootID.String() != "b" || tx.DMI()["vendor"].String() != "QEMU" || string(*tx.Log()) != "not JSON" {
		t.Errorf("facts %+v, log %q", tx.Facts(), *tx.Log())
	}
	if image := tx.Image(); image.Name != "d12" || image.Revision != revision || !image.Created.Equal(now) {
		t.Errorf("image %+v", image)
	}
	if holder, at := tx.NameHolder(); holder != node || at != revision {
		t.Errorf("the name belongs to %s at %d", holder, at)
	}
	if list := tx.Events(); len(list) != 1 || list[0].Kind != "newer" || list[0].ID != revision {
		t.Errorf("events %+v", list)
	}
	if rollout.Get().Name != "r" || rollout.Revision() != revision || none.Get() != nil || none.Revision() != 0 {
		t.Errorf("rollouts %+v, %+v", rollout.Get(), none.Get())
	}
	absent := load(t, db, node, nodetx.Image(""), nodetx.NameHolder("n2"))
	if holder, at := absent.NameHolder(); absent.Image() != nil || holder != "" || at != 0 {
		t.Errorf("image %+v, name of %q at %d", absent.Image(), holder, at)
	}
}
