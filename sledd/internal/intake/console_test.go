// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/console"
)

// recorded is a machine whose console is recorded.
type recorded struct {
	*machine
	file   string
	search func(ctx context.Context)
}

func newRecorded(t *testing.T, level admission.Level) *recorded {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(level)
	go m.Hub.Run(t.Context())
	m.Consoles = console.Directory(t.TempDir())
	return &recorded{m, m.Consoles.File(mac), m.SearchOfConsoles()}
}

// prints adds a line to the record.
func (r *recorded) prints(text string) {
	r.Helper()
	file, err := os.OpenFile(r.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(r.DB.Now().Format(time.RFC3339) + " " + text); err != nil {
		r.Fatal(err)
	}
}

// looks searches the console as soon as the hub knows of a claim without proof.
func (r *recorded) looks() {
	r.Helper()
	r.await("a claim without proof is known", func() bool { return len(r.Hub.Unproven()) == 1 })
	r.search(r.Context())
}

func TestTheCodeOnTheConsoleIsEvidence(t *testing.T) {
	r := newRecorded(t, admission.Proven)
	r.prints("Welcome\r\n")
	code, claim := r.hello("192.0.2.1")
	r.looks()
	if token := r.pollBy(claim); token != "" {
		t.Fatal("admitted before its code was printed")
	}
	r.prints("sled: claim " + code + "\r\r\n")
	r.looks()
	r.token = r.pollBy(claim)
	incumbent := r.load().Admission().Incumbent
	if r.token == "" || incumbent.Level != admission.Proven || incumbent.By != "console" {
		t.Errorf("token %t, %+v", r.token != "", incumbent)
	}
	r.await("the proof is known", func() bool { return len(r.Hub.Unproven()) == 0 })
	r.prints("sled: claim " + code + "\n")
	events := len(r.load().Events())
	r.search(t.Context())
	if now := len(r.load().Events()); now != events {
		t.Errorf("%d more events for the same code", now-events)
	}
}

// TestAnIncumbentIsProvenByTheConsole: secrets are no longer withheld.
func TestAnIncumbentIsProvenByTheConsole(t *testing.T) {
	r := newRecorded(t, admission.Expected)
	r.decide(admission.Expect{For: time.Minute, By: "power"})
	code := r.enter("192.0.2.1")
	r.poll()
	if err := third(r.Seed(t.Context(), mac, r.token)); err == nil {
		t.Fatal("the seed was not withheld")
	}
	r.after(time.Second) // a line of the second of the window does not count
	r.prints("sled: claim " + code + "\n")
	r.looks()
	if err := third(r.Seed(t.Context(), mac, r.token)); err != nil {
		t.Error(err)
	}
}

// TestWhatASystemPrintsIsNoEvidence: the codes of claims of before, and those of live claims in other forms.
func TestWhatASystemPrintsIsNoEvidence(t *testing.T) {
	r := newRecorded(t, admission.Proven)
	old, _ := r.hello("192.0.2.1")
	r.decide(admission.Refuse{Code: old})
	code, claim := r.hello("192.0.2.66")
	for name, text := range map[string]string{
		"a code of before":             "sled: claim " + old + "\n",
		"a line within a line":         "login: sled: claim " + code + "\n",
		"a line that a CR starts":      "login: \rsled: claim " + code + "\n",
		"a time before it":             "2030-01-01T00:00:00Z sled: claim " + code + "\n",
		"a line that is not complete":  "sled: claim " + code,
		"more behind it":               "sled: claim " + code + " admitted\n",
		"what is in the log of a jump": "[    1.234567] sled: claim " + code + "\n",
	} {
		if err := os.RemoveAll(r.file); err != nil {
			t.Fatal(err)
		}
		r.prints(text)
		r.looks()
		if r.pollBy(claim) != "" {
			t.Errorf("%s is evidence", name)
		}
	}
}

// TestACodeFromBeforeItsClaimIsNoEvidence: nobody can know a code before, but may guess many.
func TestACodeFromBeforeItsClaimIsNoEvidence(t *testing.T) {
	r := newRecorded(t, admission.Proven)
	before := r.DB.Now().Format(time.RFC3339)
	code, claim := r.after(2 * time.Second).hello("192.0.2.1")
	if err := os.WriteFile(r.file, []byte(before+" sled: claim "+code+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.looks()
	if r.pollBy(claim) != "" {
		t.Error("admitted")
	}
	r.prints("sled: claim " + code + "\n")
	r.looks()
	if r.pollBy(claim) == "" {
		t.Error("not admitted")
	}
}

// TestAConsoleIsSearchedAgain when the record was rotated or truncated, and when the store did not take what was found.
func TestAConsoleIsSearchedAgain(t *testing.T) {
	for name, change := range map[string]func(r *recorded, code string){
		"rotated": func(r *recorded, code string) {
			r.prints("sled: claim " + code + "\n")
			if err := os.Rename(r.file, r.file+".1"); err != nil {
				r.Fatal(err)
			}
			r.prints("new file\n")
		},
		"truncated": func(r *recorded, code string) {
			if err := os.Truncate(r.file, 0); err != nil {
				r.Fatal(err)
			}
			r.prints("sled: claim " + code + "\n")
		},
		"split between two reads": func(r *recorded, code string) {
			r.prints("sled: claim " + code)
			r.looks()
			if err := os.WriteFile(r.file, append(r.read(), '\r', '\n'), 0o600); err != nil {
				r.Fatal(err)
			}
		},
		"not stored": func(r *recorded, code string) {
			r.prints("sled: claim " + code + "\n")
			late, cancel := context.WithCancel(r.Context())
			cancel()
			r.search(late)
		},
		"no file": func(r *recorded, code string) {
			if err := os.Remove(r.file); err != nil {
				r.Fatal(err)
			}
			r.looks()
			r.prints("sled: claim " + code + "\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorded(t, admission.Proven)
			code, claim := r.hello("192.0.2.1")
			r.prints("some text that is longer than the line with the code of a claim\n")
			r.looks()
			change(r, code)
			r.looks()
			if r.pollBy(claim) == "" {
				t.Error("not admitted")
			}
		})
	}
}

func (r *recorded) read() []byte {
	r.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil {
		r.Fatal(err)
	}
	return text
}
