// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// at sets the level of the site.
func (m *machine) at(level admission.Level) *machine {
	m.DB.Policy = nodetx.Policy{Level: level}
	return m
}

func (m *machine) after(d time.Duration) *machine {
	m.ahead.Add(int64(d))
	return m
}

func (m *machine) helloFrom(address, bearer string) (admission.Answer, string, error) {
	m.booted = "boot-" + address
	return m.Hello(m.Context(), mac, bearer, admission.Hello{Boot: m.booted, NIC: mac},
		intake.Source{Address: address})
}

// hello makes a claim and returns its code and token.
func (m *machine) hello(address string) (code, bearer string) {
	m.Helper()
	answer, bearer, err := m.helloFrom(address, "")
	if err != nil || !strings.HasPrefix(bearer, "sledc_") || len(answer.Nonce) != 64 {
		m.Fatalf("%+v, %q, %v", answer, bearer, err)
	}
	return answer.Code, bearer
}

// pollBy polls with a token and returns the token of the response.
func (m *machine) pollBy(bearer string) string {
	m.Helper()
	answer, err := m.Poll(m.Context(), mac, bearer, intake.None, 0)
	if err != nil || answer.Plan != "" {
		m.Fatalf("%+v, %v", answer, err)
	}
	return answer.Token
}

func (m *machine) decide(event admission.Event) {
	m.Helper()
	m.change(func(tx *nodetx.Tx) { m.DB.Policy.Step(tx, event) })
}

// enter makes a claim that is admitted, and takes its boot token.
func (m *machine) enter(address string) (code string) {
	m.Helper()
	code, claim := m.hello(address)
	m.token, m.run = m.pollBy(claim), intake.None
	if !strings.HasPrefix(m.token, "sledb_") {
		m.Fatalf("%s is not admitted: %q", address, m.token)
	}
	return code
}

func TestAClaimBecomesTheNode(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Open)
	_, claim := m.hello("192.0.2.1")
	if m.status().Phase != "" {
		t.Errorf("a claim changed the phase to %s", m.status().Phase)
	}
	if got := m.status().Address; !got.IsZero() {
		t.Errorf("the address of a claim is that of the node: %s", got)
	}
	first := m.pollBy(claim)
	if got := m.status().Address.String(); got != "192.0.2.1" {
		t.Errorf("the address of the node is %q", got)
	}
	if m.token = m.pollBy(claim); m.token == "" || m.token == first {
		t.Fatalf("a response that was lost is not repeated: %q, %q", first, m.token)
	}
	if got := m.poll(); got != "wipe write configure kexec" || m.status().Phase != api.Booting {
		t.Fatalf("the plan is %q, phase %s", got, m.status().Phase)
	}
	_, err := m.Poll(t.Context(), mac, claim, intake.None, 0)
	m.refused("a poll with the claim token, after the boot token was used", err, refusal.Unauthorized)
	if !m.startsSled() { // anybody can fetch the boot script
		t.Fatal("a bound node boots its own disk")
	}
	m.token = first
	m.does(api.Writing, start(2, "write"))
	m.does(api.Configuring, end(2, "write", 0), start(3, "configure"))
	if _, _, err := m.Seed(t.Context(), mac, m.token); err != nil {
		t.Fatal(err)
	}
	last := report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"}
	m.does(api.Starting, start(4, "kexec"), last)
	m.does(api.Starting, last) // the response was lost
	m.refused("another report after the jump", m.report(end(3, "configure", 0)), refusal.Unauthorized)
	_, err = m.Poll(t.Context(), mac, m.token, 1, 0)
	m.refused("a poll after the jump", err, refusal.Unauthorized)
	if m.count("admit") != 1 || m.count("leave") != 1 {
		t.Errorf("%d admitted, %d left", m.count("admit"), m.count("leave"))
	}
}

// A node keeps four claims: those of five addresses replace each other, and a claim that is gone counts still.
func TestClaimsOfManyAddressesAreLimited(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	claims := 0
	for range 20 {
		for i := range 5 {
			if _, _, err := m.helloFrom(fmt.Sprintf("192.0.2.%d", i+1), ""); err == nil {
				claims++
			} else {
				m.refused("another claim", err, refusal.TooMany)
			}
		}
		m.after(time.Second)
	}
	if claims > 5*(4+2) {
		t.Errorf("%d claims of 5 addresses within 20 s", claims)
	}
}

// A flood of one address reads nothing once it is above the limit; other addresses, and a claim that is repeated, are
// not held up by it.
func TestAFloodOfHellosReadsNothing(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	_, claim := m.hello("192.0.2.1")
	for range 20 {
		_, _, _ = m.helloFrom("192.0.2.1", "")
	}
	calls := 0
	m.memory.Before(func(string) error { calls++; return nil })
	for range 100 {
		m.refused("a flood", second(m.helloFrom("192.0.2.1", "")), refusal.TooMany)
	}
	if calls != 0 {
		t.Errorf("%d calls of the store for 100 hellos above the limit", calls)
	}
	if _, _, err := m.helloFrom("192.0.2.1", claim); err != nil {
		t.Errorf("the claim again: %v", err)
	}
	m.hello("192.0.2.2")
	if calls == 0 {
		t.Error("no call of the store was counted")
	}
}

func TestAClaimWaitsForAWindow(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	code, claim := m.hello("192.0.2.1")
	if got := m.pollBy(claim); got != "" {
		t.Fatalf("admitted: %q", got)
	}
	m.refused("a second claim at once", second(m.helloFrom("192.0.2.1", "")), refusal.TooMany)
	if answer, issued, err := m.helloFrom("192.0.2.1", claim); err != nil || answer.Code != code || issued != "" {
		t.Errorf("the same claim again: %+v, %q, %v", answer, issued, err)
	}
	m.refused("its token at another boot", second(m.helloFrom("192.0.2.2", claim)), refusal.Unauthorized)

	m.after(time.Minute).decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	if m.token = m.pollBy(claim); m.token == "" {
		t.Fatal("not admitted in a window")
	}
	m.poll()
	_, _, err := m.Seed(t.Context(), mac, m.token)
	m.refused("seed within the hold", err, refusal.Withheld)
	since := m.status().Withheld
	m.after(time.Minute)
	_, _, err = m.Seed(t.Context(), mac, m.token)
	m.refused("seed within the hold, again", err, refusal.Withheld)
	if held := m.count("hold"); held != 1 || since.IsZero() || !m.status().Withheld.Equal(since) {
		t.Errorf("%d holds, since %s, then %s", held, since, m.status().Withheld)
	}
	m.after(4 * time.Minute)
	if _, _, err := m.Seed(t.Context(), mac, m.token); err != nil {
		t.Error(err)
	}
	if since := m.status().Withheld; !since.IsZero() {
		t.Errorf("withheld since %s, with its seed", since)
	}
}

func TestACaptureWaitsUntilItsUploadIsAllowed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Capture: "golden"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	m.enter("192.0.2.1")
	if got := m.poll(); got != "" {
		t.Errorf("the plan is %q, while an upload is refused", got)
	}
	if held := m.count("hold"); held != 1 || m.status().Withheld.IsZero() {
		t.Errorf("%d holds, since %s", held, m.status().Withheld)
	}
	m.after(5 * time.Minute)
	if got := m.poll(); got != "capture reboot" {
		t.Errorf("the plan is %q", got)
	}
}

func second(_ admission.Answer, _ string, err error) error { return err }

func TestARivalIsAnAlarm(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	m.enter("192.0.2.66")
	m.poll()
	impostor := m.token
	code, claim := m.hello("192.0.2.1")
	m.does(api.Writing, start(2, "write"))
	if m.count("rival") != 1 {
		t.Error("no alarm")
	}
	m.after(10 * time.Minute)
	_, _, err := m.Seed(t.Context(), mac, impostor)
	m.refused("seed of a contested node", err, refusal.Withheld)
	m.decide(admission.Prove{Code: code, Evidence: admission.Console})
	m.token, m.run = m.pollBy(claim), intake.None
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("the plan is %q", got)
	}
	if _, _, err := m.Seed(t.Context(), mac, m.token); err != nil {
		t.Error(err)
	}
	_, _, err = m.Seed(t.Context(), mac, impostor)
	m.refused("seed of the impostor", err, refusal.Unauthorized)
	for _, record := range m.load().Tokens() {
		if token.Same(impostor, record.SHA256) {
			t.Error("the token of the impostor is still stored")
		}
	}
}

func TestNoPlanBelowTheRequiredLevel(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Open)
	code := m.enter("192.0.2.1")
	m.at(admission.Proven)
	if got := m.poll(); got != "" {
		t.Errorf("the plan is %q", got)
	}
	_, _, err := m.Seed(t.Context(), mac, m.token)
	m.refused("seed", err, refusal.Forbidden)
	m.decide(admission.Admit{Code: code})
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("the plan is %q", got)
	}
}

func TestATicketServesOneBoot(t *testing.T) {
	m := newMachine(t, nil).at(admission.Proven)
	var ticket string
	m.change(func(tx *nodetx.Tx) { ticket = tx.IssueTicket().Token })
	for range 2 { // the first response was lost
		_, claim, err := m.helloFrom("192.0.2.1", ticket)
		if err != nil {
			t.Fatal(err)
		}
		m.after(10 * time.Second)
		m.token = claim
	}
	m.refused("the ticket at another boot", second(m.helloFrom("192.0.2.2", ticket)), refusal.Unauthorized)
	if m.pollBy(m.token) == "" {
		t.Error("the claim with the ticket is not admitted")
	}
	m.refused("a ticket that ended", second(m.after(16*time.Minute).helloFrom("192.0.2.1", ticket)), refusal.Unauthorized)
}

func TestAClaimStoresNoToken(t *testing.T) {
	m := newMachine(t, nil).at(admission.Expected)
	text, _ := token.Mint(token.Boot, mac, 1, time.Now(), time.Hour)
	hello := admission.Hello{Boot: "b", NIC: mac, UUID: text, Serial: "1-" + text}
	if _, _, err := m.Hello(t.Context(), mac, "", hello, intake.Source{}); err != nil {
		t.Fatal(err)
	}
	tx, err := m.DB.Load(t.Context(), mac)
	if err != nil {
		t.Fatal(err)
	}
	if stored := string(tx.StoredValue(nodetx.AdmissionOf)); len(tx.Admission().Claims) != 1 ||
		strings.Contains(stored, text) {
		t.Error(stored)
	}
}

func third(_ []byte, _ string, err error) error { return err }

func (m *machine) reportBy(address, bearer string) error {
	_, err := m.Report(m.Context(), address, bearer, report.Report{Boot: nodetext.CleanIdentifier("b1"),
		Lines: []report.Line{start(1, "idle")}})
	return err
}

// TestPollsAreAnsweredWhenTheyMatter: an idle incumbent is asked whether it lives, and a claim learns of its window.
func TestPollsAreAnsweredWhenTheyMatter(t *testing.T) {
	m := newMachine(t, nil).at(admission.Expected)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go m.Hub.Run(ctx)
	m.decide(admission.Expect{For: time.Minute, By: "power"})
	m.enter("192.0.2.1")
	m.poll()
	m.after(time.Hour / 2)
	answers := make(chan string)
	poll := func(bearer string, given int64) {
		answer, err := m.Poll(t.Context(), mac, bearer, given, time.Minute)
		answers <- fmt.Sprint(answer.Plan, answer.Token != "", err)
	}
	waiting := func(polls int) {
		t.Helper()
		patience.Until(t, fmt.Sprintf("%d polls wait", polls), func() bool { return m.Hub.Waiting() == polls })
	}
	go poll(m.token, m.run)
	waiting(1)
	_, rival := m.hello("192.0.2.2")
	if got := <-answers; !strings.HasSuffix(got, "<nil>") {
		t.Error(got)
	}
	m.decide(admission.Revoke{})
	_, err := m.Poll(t.Context(), mac, rival, intake.None, 0)
	m.refused("a claim of before", err, refusal.Unauthorized)
	_, claim := m.hello("192.0.2.3")
	go poll(claim, intake.None)
	waiting(1)
	m.decide(admission.Expect{For: time.Minute, By: "power"})
	if got := <-answers; !strings.HasSuffix(got, "<nil>") { // with a token if the window opened first
		t.Error(got)
	}
	if m.pollBy(claim) == "" {
		t.Error("not admitted")
	}
}
