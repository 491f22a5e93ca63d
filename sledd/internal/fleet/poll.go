// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// None is the generation of a node that was given no plan since it booted.
const None int64 = -1

// Answer to a node: a plan if there is one to run, and a token if it is to use another from now on.
type Answer struct {
	Plan  string
	Token string
}

// Poll gives the node's plan, unless it is of the generation given already: then it waits for another wish until the context
// or the time ends, and gives no plan.
func (f *Fleet) Poll(ctx context.Context, mac, bearer string, given int64, wait time.Duration) (Answer, error) {
	wake, forget := f.Hub.Wait(mac)
	defer forget()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	renewed := ""
	for {
		answer, err := f.turn(ctx, func() (Answer, error) { return f.hand(ctx, mac, bearer, given, renewed == "") })
		if err != nil {
			return Answer{}, err
		}
		if answer.Token == "" {
			answer.Token = renewed
		}
		if answer.Plan != "" {
			f.Observe.PlanHandedOut()
			return answer, nil
		}
		renewed = answer.Token
		select {
		case <-wake:
		case <-timer.C:
			return answer, nil
		case <-ctx.Done():
			return answer, nil
		}
	}
}

// turn does something when a slot is free: thousands of nodes may poll, or be woken, at the same time.
func (f *Fleet) turn(ctx context.Context, do func() (Answer, error)) (Answer, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
		return do()
	case <-ctx.Done():
		return Answer{}, nil
	}
}

// hand gives out the plan if there is a new one, and notes that.
func (f *Fleet) hand(ctx context.Context, mac, bearer string, given int64, renew bool) (Answer, error) {
	var answer Answer
	err := f.update(ctx, mac, []store.Query{store.Key(key.Facts + mac)}, func(v *view) error {
		answer = Answer{}
		record, err := v.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		v.status.Seen = v.now
		if err := f.sign(ctx, v, given); err != nil {
			return err
		}
		if wish, needed := v.detour(given); needed {
			v.handed(wish)
			return f.put(v, wish, record, &answer)
		}
		if err := f.chooseStart(v); err != nil {
			return err
		}
		wish, err := v.wish()
		if err != nil {
			return err
		}
		if v.rescue == nil && wish.Generation != given {
			return f.give(v, wish, record, &answer)
		}
		if renew {
			answer.Token = f.renew(v, record)
		}
		return nil
	})
	return answer, err
}

// sign completes the image of a plan that is to be given by a signature that was made after the binding.
func (f *Fleet) sign(ctx context.Context, v *view, given int64) error {
	if v.binding == nil || v.binding.Source == nil || v.binding.Generation == given || v.satisfied() || v.rescue != nil {
		return nil
	}
	image, err := f.Image(ctx, v.binding.Image)
	if err == nil {
		v.binding.Source.Signature = image.Signature
	}
	if IsKind(err, NotFound) {
		return nil
	}
	return err
}

// wish is the plan that the node should have now. What is done already is not done again.
func (v *view) wish() (plan.Plan, error) {
	if v.binding == nil || v.node == nil {
		return plan.Waiting(0), nil
	}
	if v.satisfied() {
		return plan.Waiting(v.binding.Generation), nil
	}
	return plan.Build(*v.node, v.binding.Binding, v.binding.Source, v.captures.Upload)
}

// give hands out what is wished.
func (f *Fleet) give(v *view, wish plan.Plan, record *token.Record, answer *Answer) error {
	wish.Watch(f.Watchdog)
	if err := f.put(v, wish, record, answer); err != nil {
		return err
	}
	v.given(wish)
	v.happened(api.Event{Kind: "plan", Generation: wish.Generation, Steps: len(wish.Steps), Detail: wish.Verbs() + v.whyNot()})
	return nil
}

// put makes a plan the answer, with a token of its generation.
func (f *Fleet) put(v *view, wish plan.Plan, record *token.Record, answer *Answer) error {
	text, err := plan.Encode(wish)
	if err != nil {
		return err
	}
	answer.Plan = text
	if wish.Generation > record.Generation {
		var fresh token.Record
		answer.Token, fresh = token.Mint(token.Boot, v.mac, wish.Generation, v.now, f.TokenLife)
		v.tokens = token.Add(v.tokens, fresh, v.now)
	} else {
		answer.Token = f.renew(v, record)
	}
	return nil
}

// given notes that the node has a plan now; what was said of an earlier one no longer holds.
func (v *view) given(wish plan.Plan) {
	kept := v.status.Phase == api.Discovered && v.node == nil ||
		wish.Idle() && v.satisfied() && v.status.Phase != api.Operational ||
		v.status.Phase == api.Booting && !wish.Idle()
	if !kept {
		v.enter(api.Idle)
	}
	if !wish.Idle() {
		v.settle(missed) // whatever was jumped to before has not spoken
		v.status.Start, v.status.StartNote = "", v.why
	}
	if wish.Generation > 0 {
		v.status.Generation = wish.Generation
	}
	v.status.Step, v.status.Steps, v.status.Verb, v.status.Progress = 0, len(wish.Steps), "", nil
	v.status.Code, v.status.Reason, v.status.Detail = 0, "", ""
}
