// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/seal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// besides is another sledd with the same store.
func (m *machine) besides(box *seal.Box) *intake.Intake {
	options := m.Options
	options.DB = &nodetx.DB{Store: m.memory, Clock: m.DB.Clock, Policy: m.DB.Policy, Box: box}
	return intake.New(options)
}

func boxOf(t *testing.T, keys ...string) *seal.Box {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(strings.Join(keys, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	box, err := seal.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// crowd makes more claims than are listed, each from another address.
func (m *machine) crowd(from, to int) {
	m.Helper()
	for i := from; i < to; i++ {
		if _, _, err := m.after(time.Second).helloFrom(fmt.Sprintf("198.51.100.%d", i), ""); err != nil {
			m.Fatal(err)
		}
	}
}

// TestAClaimOutlivesAFlood: a code that was read is worth something 20 s and 80 claims later, at another sledd.
func TestAClaimOutlivesAFlood(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Proven)
	code, claim := m.hello("192.0.2.1")
	m.crowd(1, 41)
	stored := len(m.load().StoredValue(nodetx.AdmissionOf))
	m.crowd(41, 81)
	if now := m.load(); len(now.Admission().Claims) != 4 || len(now.StoredValue(nodetx.AdmissionOf)) > stored+100 {
		t.Errorf("%d claims are listed, in %d bytes", len(now.Admission().Claims), len(now.StoredValue(nodetx.AdmissionOf)))
	}
	if m.pollBy(claim) != "" {
		t.Fatal("admitted without evidence")
	}
	m.crowd(81, 100)
	other := m.besides(nil)
	m.decide(admission.Admit{Code: code})
	answer, err := other.Poll(t.Context(), mac, claim, intake.None, 0)
	if err != nil || answer.Token == "" {
		t.Fatalf("%+v, %v", answer, err)
	}
	if incumbent := m.load().Admission().Incumbent; incumbent.Code != code || incumbent.Address != "192.0.2.1" ||
		incumbent.Hello.Boot != "boot-192.0.2.1" || incumbent.By != "person" {
		t.Errorf("%+v", incumbent)
	}
	if m.count("flood") != 1 || m.count("claim") > 4+100/5 {
		t.Errorf("%d alarms, %d events of claims", m.count("flood"), m.count("claim"))
	}
}

// TestTheConsoleFindsAClaimThatIsNotListed before or after the flood has pushed it out.
func TestTheConsoleFindsAClaimThatIsNotListed(t *testing.T) {
	for name, first := range map[string]bool{"printed first": true, "printed last": false} {
		t.Run(name, func(t *testing.T) {
			r := newRecorded(t, admission.Proven)
			if !first {
				r.crowd(1, 5)
			}
			code, claim := r.hello("192.0.2.1")
			if first {
				r.prints("sled: claim " + code + "\n")
			}
			r.crowd(5, 41)
			if !first {
				r.prints("sled: claim " + code + "\n")
			}
			r.looks()
			r.crowd(41, 61)
			if r.pollBy(claim) == "" {
				t.Errorf("not admitted: %+v", r.load().Admission())
			}
		})
	}
}

// TestClaimsEndWithTheirKey: several sledd share it, also after a restart; one that cannot be opened is replaced.
func TestClaimsEndWithTheirKey(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.hello("192.0.2.1")
	m.crowd(1, 9)
	old, fresh := strings.Repeat("a", 64), strings.Repeat("b", 64)
	boxed := m.besides(boxOf(t, old))
	hello := func(in *intake.Intake, address string) string {
		t.Helper()
		_, claim, err := in.Hello(t.Context(), mac, "", admission.Hello{Boot: "b", NIC: mac}, intake.Source{Address: address})
		if err != nil {
			t.Fatal(err)
		}
		return claim
	}
	alive := func(in *intake.Intake, claim string) error { return in.Authenticate(t.Context(), mac, claim) }
	claim := hello(boxed, "192.0.2.2") // the key was in clear: it is replaced
	for what, in := range map[string]*intake.Intake{"itself": boxed, "another": m.besides(boxOf(t, old)),
		"one that seals with a new key": m.besides(boxOf(t, fresh, old))} {
		if err := alive(in, claim); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	lost := m.besides(boxOf(t, fresh))
	m.refused("the key is lost", alive(lost, claim), refusal.Unauthorized)
	if err := alive(lost, hello(lost, "192.0.2.3")); err != nil {
		t.Errorf("a claim after that: %v", err)
	}
	snapshot, err := m.memory.Read(t.Context(), store.Key(key.ClaimKey))
	if err != nil {
		t.Fatal(err)
	}
	if kv, _ := snapshot.One(0); !strings.Contains(string(kv.Value), "sealed_key") ||
		strings.Contains(string(kv.Value), `"key"`) {
		t.Errorf("the key is stored in clear: %s", kv.Value)
	}
}

// TestForgedClaimsAreRefused: also before the key was read for the first time.
func TestForgedClaimsAreRefused(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Open)
	var zero token.ClaimKey
	forged, err := zero.Seal(mac, token.Sealed{Since: m.DB.Now(), NIC: mac, Boot: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bearer := range []string{forged, forgedClaim, forged[:len(forged)-2] + hex.EncodeToString([]byte{1})} {
		_, err := m.Poll(t.Context(), mac, bearer, intake.None, 0)
		m.refused("a poll", err, refusal.Unauthorized)
		m.refused("a request", m.Authenticate(t.Context(), mac, bearer), refusal.Unauthorized)
		m.refused("a hello", second(m.helloFrom("192.0.2.1", bearer)), refusal.Unauthorized)
	}
}
