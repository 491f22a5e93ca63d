// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

func TestAMirrorThatIsBehindAnswersNothing(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "b/1=y", "c/1=z")
	w.set("b/2=v")
	w.expect("filled", "a/1=x b/1=y b/2=v")
	w.deliver() // what is in it already
	w.expect("repeated", "a/1=x b/1=y b/2=v")
	w.set("a/0=u", "a/1=w")
	w.expect("behind", "none")
	w.deliver()
	w.expect("up to date", "a/0=u a/1=w b/1=y b/2=v")
	w.set("c/5=other")
	w.expect("behind a record that is not in it", "none")
	w.deliver()
	w.expect("up to date again", "a/0=u a/1=w b/1=y b/2=v")
}

func TestAViewWaitsForTheWatch(t *testing.T) {
	w := begin(t)
	w.set("a/1=x")
	w.expect("filled", "a/1=x")
	w.mirror.patience = time.Minute
	w.set("a/1=y")
	go w.deliver()
	w.expect("waited", "a/1=y")
}

func TestDeletedRecordsAreGone(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "b/1=y", "a/2=z")
	w.expect("filled", "a/1=x b/1=y a/2=z")
	w.set("b/1", "a/2")
	w.set("b/9") // was never there
	w.deliver()
	w.expect("one record, one row", "a/1=x")
	w.set("a/1")
	w.set("a/2=new")
	w.set("a/2")
	w.set("a/2=newer")
	w.deliver()
	w.expect("stored again", "a/2=newer")
}

func TestChangesWhileItIsFilledAreKept(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "a/2=y", "a/3=z")
	w.afterRead = func() {
		w.set("a/1=later", "a/2", "b/4=new")
		w.set("b/4")
		w.set("a/2=again")
		w.set("a/3")
		w.deliver() // those of before, too
	}
	w.expect("filled", "a/1=later a/2=again")
}

// A batch that comes behind a newer one does not bring back what was deleted.
func TestAWrongOrderChangesNothing(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "a/2=y")
	w.expect("filled", "a/1=x a/2=y")
	w.set("a/1=old", "b/3=old")
	w.set("a/1=new", "b/3")
	slices.Reverse(w.batches)
	w.deliver()
	w.expect("newest first", "a/1=new a/2=y")
}

func TestARowIsDecodedOnce(t *testing.T) {
	w := begin(t)
	decoded := map[string]int{}
	w.mirror.load = func(id string, old *words, fresh []store.Change) (*words, error) {
		decoded[id] += len(fresh)
		return loadWords(id, old, fresh)
	}
	w.set("a/1=x", "b/1=y", "a/2=z")
	w.expect("filled", "a/1=x b/1=y a/2=z")
	w.set("a/1=1")
	w.set("a/1=2")
	w.deliver()
	w.expect("changed", "a/1=2 b/1=y a/2=z")
	w.expect("same", "a/1=2 b/1=y a/2=z")
	if want := map[string]int{"1": 3, "2": 1}; !maps.Equal(decoded, want) {
		t.Errorf("records were decoded: %v, want %v", decoded, want)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "a/2=broken")
	w.expect("broken", errWord.Error())
	w.expect("still broken", errWord.Error())
	w.set("a/2=y")
	w.deliver()
	w.expect("repaired", "a/1=x a/2=y")
}

// After a compaction, or a watch that broke, changes may be missing.
func TestAResetReadsAgain(t *testing.T) {
	w := begin(t)
	w.set("a/1=x")
	w.expect("filled", "a/1=x")
	w.set("a/1=y")
	w.batches = nil // lost
	w.set("a/2=z")
	w.mirror.Reset()
	w.deliver()
	w.expect("read again", "a/1=y a/2=z")
	w.mirror.Reset()
	w.afterRead = func() {
		w.set("a/3=lost")
		w.batches = nil
		w.mirror.Reset()
	}
	w.expect("reset while it was read", "none")
	w.expect("read again", "a/1=y a/2=z a/3=lost")
}

func TestAStoreThatWasPutBackIsReadAgain(t *testing.T) {
	w := begin(t)
	w.set("a/1=x")
	former := w.Memory
	w.Memory = &storetest.Memory{}
	for range 5 {
		w.set("a/1=later")
	}
	w.deliver()
	w.expect("filled", "a/1=later")
	w.Memory = former
	w.expect("put back", "a/1=x")
}

func TestAStoreThatFails(t *testing.T) {
	w := begin(t)
	w.set("a/1=x")
	down, calls := errors.New("down"), 0
	w.Before(func(string) error { return down })
	w.expect("down", "down")
	w.Before(func(string) error {
		if calls++; calls == 2 {
			return down
		}
		return nil
	})
	w.expect("down while it is filled", "none")
	w.expect("left to reads for a while", "none")
	if calls != 3 {
		t.Errorf("%d reads", calls)
	}
	w.now = w.now.Add(pause)
	w.expect("filled", "a/1=x")
	w.Before(func(string) error { return down })
	w.expect("down, although it is filled", "down")
}

func TestNoMirrorHasNoView(t *testing.T) {
	var none *Mirror[words]
	if view, err := none.View(t.Context()); view != nil || err != nil {
		t.Errorf("%v, %v", view, err)
	}
}

func TestViewsContinueAfterAnID(t *testing.T) {
	w := begin(t)
	w.set("a/1=x", "a/3=y", "a/5=z")
	view, _ := w.mirror.View(t.Context())
	for after, want := range map[string]string{"": "a/1=x a/3=y a/5=z", "1": "a/3=y a/5=z", "2": "a/3=y a/5=z", "5": "",
		"9": ""} {
		if got := text(view, after); got != want {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
	for row := range view.After("") {
		if row.More != (row.ID != "5") {
			t.Errorf("row %s: more %v", row.ID, row.More)
		}
	}
	w.set("a/1", "a/2=new")
	w.deliver()
	if got := text(view, ""); got != "a/1=x a/3=y a/5=z" {
		t.Errorf("a view changed: %q", got)
	}
}

// Whatever happens in whatever order, a view is what the store has.
func TestAnyViewIsThatOfTheStore(t *testing.T) {
	for seed := range uint64(200) {
		w, random := begin(t), rand.New(rand.NewPCG(seed, 0))
		served := 0
		for range 60 {
			switch n := random.IntN(10); {
			case n < 5:
				change := fmt.Sprintf("%c/%d", 'a'+rune(random.IntN(3)), random.IntN(5))
				if random.IntN(3) > 0 {
					change += fmt.Sprintf("=%d", random.IntN(1000))
				}
				w.set(change)
			case n < 8:
				w.deliver()
			case n < 9 && random.IntN(4) == 0:
				w.mirror.Reset()
			}
			if random.IntN(5) == 0 {
				w.afterRead = func() { w.set("a/7=" + fmt.Sprint(random.IntN(9))); w.deliver() }
			}
			if got := w.shown(); got != "none" {
				served++
				fresh := New(w.Memory, loadWords, "a/", "b/") // as after a restart
				view, _ := fresh.View(t.Context())
				if want := text(view, ""); got != want {
					t.Fatalf("seed %d: %q, the store has %q", seed, got, want)
				}
			}
		}
		if served < 10 {
			t.Errorf("seed %d: served %d of 60", seed, served)
		}
	}
}

func TestReadersAndTheWatchAtOnce(t *testing.T) {
	w := begin(t)
	w.mirror.patience = time.Minute
	w.set("a/1=0", "b/1=0")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 200 {
				view, err := w.mirror.View(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for row := range view.After("") {
					if (*row.Value)["a/1"] != (*row.Value)["b/1"] {
						t.Errorf("not of one revision: %v", *row.Value)
					}
				}
			}
		})
	}
	for i := range 500 {
		w.set(fmt.Sprintf("a/1=%d", i), fmt.Sprintf("b/1=%d", i))
		w.deliver()
	}
	running.Wait()
}
