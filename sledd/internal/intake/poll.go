// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// None is the run of a node that was given no plan since it booted.
const None int64 = 0

// Answer to a node: a plan if there is one to run, and a token if it is to use another from now on.
type Answer struct {
	Plan  string
	Token string
	again bool      // the node is to send another poll
	until time.Time // the plan is held back; zero: not, or until an event
}

// Poll returns the node's plan, unless it has it already, by its run: then it waits for another one until the context
// or the time ends, and returns no plan.
func (in *Intake) Poll(ctx context.Context, mac, bearer string, given int64, wait time.Duration) (Answer, error) {
	answer, err := in.poll(ctx, mac, bearer, given, wait)
	in.live.note(answer.Token, in.DB.Now())
	return answer, err
}

func (in *Intake) poll(ctx context.Context, mac, bearer string, given int64, wait time.Duration) (Answer, error) {
	if token.IsClaim(bearer) {
		return in.pollClaim(ctx, mac, bearer, wait)
	}
	wake, forget := in.Hub.Wait(mac)
	defer forget()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	renewed := ""
	for woken := false; ; woken = true {
		answer, err := in.inTurn(ctx, func() (Answer, error) {
			return in.pollOnce(ctx, mac, bearer, given, renewed == "", woken)
		})
		if err != nil {
			return Answer{}, err
		}
		if answer.Token == "" {
			answer.Token = renewed
		}
		if answer.Plan != "" {
			in.Observe.PlanHandedOut()
			return answer, nil
		}
		if answer.again {
			return answer, nil
		}
		renewed = answer.Token
		select {
		case <-wake:
		case <-in.held(answer.until):
		case <-timer.C:
			return answer, nil
		case <-ctx.Done():
			return answer, nil
		}
	}
}

// held returns a channel that receives when a plan is no longer held back; nil if time does not change that.
func (in *Intake) held(until time.Time) <-chan time.Time {
	if until.IsZero() {
		return nil
	}
	return time.After(until.Sub(in.DB.Now()))
}

// inTurn does something at a place of the gate: thousands of nodes may poll, or be woken, at the same time.
func (in *Intake) inTurn(ctx context.Context, do func() (Answer, error)) (Answer, error) {
	leave, err := in.Gate.Enter(ctx, gate.Poll)
	if err != nil { // the client is gone
		return Answer{}, nil
	}
	defer leave()
	return do()
}

// pollOnce issues the plan if there is a new one. woken: the request has waited, so it does not show that its sender
// still lives.
func (in *Intake) pollOnce(ctx context.Context, mac, bearer string, given int64, renew, woken bool) (Answer, error) {
	var answer Answer
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Facts}, func(tx *nodeTx) error {
		answer, tx.woken = Answer{}, woken
		record, err := tx.holder(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		if !woken { // thousands may look at the same time
			tx.Status().Seen = tx.Now
		}
		if !tx.rights(record).Plan || tx.isAsked() || tx.Held() {
			answer.again = tx.isAsked()
			return nil
		}
		ready, until, err := in.readyJob(ctx, tx, given, record)
		if err != nil {
			return err
		}
		answer.until = until
		switch next, is := tx.nextDetour(given); {
		case !ready:
		case is:
			err = in.issueDetour(tx, next, record, &answer)
		default:
			err = in.pollBinding(ctx, tx, given, record, &answer)
		}
		if err != nil || answer.Plan != "" || !answer.until.IsZero() {
			return err
		}
		if renew {
			answer.Token = in.renew(tx, record)
		}
		return nil
	})
	return answer, err
}

// pollBinding issues the plan of the binding, unless the node has it.
func (in *Intake) pollBinding(ctx context.Context, tx *nodeTx, given int64, record *token.Record,
	answer *Answer) error {
	in.chooseStart(tx)
	wanted := tx.wanted(record)
	if wanted.Binding != nil && wanted.Binding.Capture != "" && tx.withheld(record) != "" {
		answer.until = tx.rights(record).Until // its upload would be refused
		return nil
	}
	if run := tx.Status().Run; given != None && given == run.Number && run.Generation == wanted.Generation &&
		(run.Detour == "" || run.Detour == detour.Return) {
		return nil
	}
	if tx.besideKernel(wanted) {
		return in.issueDetour(tx, detour.Leave(wanted.Generation, in.System.Secure(tx.Spec())), record, answer)
	}
	if !tx.onKernel(&wanted) {
		return nil
	}
	return in.issuePlan(ctx, tx, wanted, record, answer)
}

// refreshImage completes an image of a plan that is to be issued, if it has one, by what was changed after the binding:
// its signature, and where it is fetched.
func (in *Intake) refreshImage(ctx context.Context, source *api.ImageSpec) error {
	if source == nil {
		return nil
	}
	image, err := in.DB.Image(ctx, source.Name)
	if err == nil && image.Digest == source.Digest {
		source.URLs, source.Statement, source.Signature = image.URLs, image.Statement, image.Signature
	}
	if refusal.Is(err, refusal.NotFound) {
		return nil
	}
	return err
}

// wanted is the plan that the node should have now. What is done already is not done again.
func (tx *nodeTx) wanted(record *token.Record) plan.Request {
	if tx.Binding() == nil || tx.Node() == nil {
		return plan.Request{}
	}
	wanted := plan.Request{Generation: tx.Binding().Generation}
	if tx.Satisfied() && !tx.Binding().Memory() { // what runs from memory ended with the boot before
		return wanted
	}
	wanted.Binding, wanted.Image, wanted.Node = &tx.Binding().Binding, tx.Binding().Source, *tx.Node()
	wanted.HandsOver = tx.HandsOver()
	wanted.Facts, wanted.Erased = tx.seenIn(tx.bootOf(record.Claim))
	return wanted
}

// issuePlan issues the plan of the binding, or records why it cannot be made.
func (in *Intake) issuePlan(ctx context.Context, tx *nodeTx, wanted plan.Request, record *token.Record,
	answer *Answer) (err error) {
	wanted.Run, wanted.Site = tx.nextRun(), in.site()
	wanted.Known, wanted.Stamp = tx.KnownStamp(), tx.Stamp(wanted.Generation, wanted.Run)
	for _, image := range []*api.ImageSpec{wanted.Image, wanted.Kernel} {
		if err := in.refreshImage(ctx, image); err != nil {
			return err
		}
	}
	if wanted.Confirms() {
		wanted.Confirm = in.confirmURL(tx, record, tx.Generation())
	}
	if wanted.Receivers, err = in.receivers(ctx, tx, wanted); err != nil {
		return err
	}
	desired, err := plan.Render(wanted)
	if refused, is := errors.AsType[*plan.DiskError](err); is {
		tx.refusePlan(wanted.Generation, refused)
		return nil
	}
	if refused, is := errors.AsType[*plan.NetworkError](err); is {
		tx.refuseNetwork(wanted.Generation, refused)
		return nil
	}
	if errors.Is(err, plan.ErrNoFacts) { // they are sent again until they arrive
		return nil
	}
	if err != nil {
		return err
	}
	if err := in.attachPlan(tx, desired, record, answer); err != nil {
		return err
	}
	tx.recordPlanIssued(desired)
	tx.AddEvent(planEvent(desired, "", tx.noKexecText()))
	return nil
}

// nextRun is the number of the next plan.
func (tx *nodeTx) nextRun() int64 { return tx.Status().Run.Number + 1 }

// planEvent is the event of a plan, with the kind of its detour and a note.
func planEvent(p plan.Plan, kind, note string) api.Event {
	event := api.Event{Kind: "plan", Generation: p.Generation, Run: p.Run, Detour: kind,
		Detail: nodetext.Clean(p.Verbs() + onDisk(p) + note)}
	if !p.Idle() {
		event.Steps = len(p.Steps)
	}
	return event
}

// site is what the plans of all nodes have in common.
func (in *Intake) site() plan.Site {
	return plan.Site{Upload: in.UploadURL, Images: in.ImageURLs, Sender: in.Sender, Relays: in.Relays,
		Watchdog: in.Watchdog}
}

// receivers counts the nodes that receive the image by multicast now or soon, so that the first of a wave does not
// fetch alone what all of them will have.
func (in *Intake) receivers(ctx context.Context, tx *nodeTx, wanted plan.Request) (int, error) {
	if in.Sender == nil || wanted.Image == nil || wanted.Binding == nil || wanted.Binding.Transport == plan.Unicast {
		return 0, nil
	}
	others, err := in.DB.Imaged(ctx, tx.Binding().Digest, tx.MAC)
	return 1 + others, err
}

// onDisk is what the event of a plan adds to its steps: the disk that it names.
func onDisk(p plan.Plan) string {
	if p.NamesDisks() {
		return " on " + p.Disk()
	}
	return ""
}

// attachPlan makes a plan the answer, with a token of its generation.
func (in *Intake) attachPlan(tx *nodeTx, desired plan.Plan, record *token.Record, answer *Answer) error {
	text, err := plan.Encode(desired)
	if err != nil {
		return err
	}
	answer.Plan = text
	tx.Status().Run = api.Run{Number: desired.Run, Generation: desired.Generation}
	tx.Status().Withheld = time.Time{}
	if !desired.Idle() { // from here on the node may write, and a detour lets people do so
		tx.Status().Erased = nil
	}
	if desired.Generation > record.Generation {
		var fresh token.Record
		answer.Token, fresh = token.Mint(token.Boot, tx.MAC, desired.Generation, tx.Now, in.TokenLife)
		fresh.Claim, fresh.Used, fresh.Unwritten = record.Claim, true, true
		tx.SetTokens(token.Add(tx.Tokens(), fresh, tx.Now))
	} else {
		answer.Token = in.renew(tx, record)
	}
	return nil
}

// recordPlanIssued notes that the node has a plan now; what was reported of an earlier one no longer holds.
func (tx *nodeTx) recordPlanIssued(desired plan.Plan) {
	kept := tx.Status().Phase == api.Discovered && tx.Node() == nil ||
		desired.Idle() && tx.Satisfied() && !tx.Status().Phase.Installed() ||
		tx.Status().Phase == api.Booting && !desired.Idle()
	if !kept {
		tx.Enter(api.Idle)
	}
	if !desired.Idle() {
		tx.SettlePayload(false)
		tx.SettleJump(nodetx.KexecMissed) // what was jumped to before has not reported
		tx.Status().Start, tx.Status().StartNote = "", nodetext.Clean(tx.noKexec)
		tx.Status().Memory, tx.Status().Confirmed = false, api.Prose{}
	}
	if desired.Generation > 0 {
		tx.Status().Generation = desired.Generation
	}
	tx.Status().Step, tx.Status().Steps, tx.Status().Verb, tx.Status().Progress = 0, len(desired.Steps), "", nil
	tx.Status().Code, tx.Status().Reason, tx.Status().Detail = 0, api.Prose{}, api.Prose{}
}
