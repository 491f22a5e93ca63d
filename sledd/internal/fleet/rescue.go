// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// orphan is the number of a rescue that a node began after it had ended.
const orphan int64 = -1

// rescue is one as stored.
type rescue struct {
	api.Rescue
	Number int64 `json:"number"`          // another one for other keys
	Given  bool  `json:"given,omitempty"` // its plan was handed out
}

// PutRescue puts a node under rescue, or changes who may enter. A node that waits gets it at once, any other when it boots next.
func (f *Fleet) PutRescue(ctx context.Context, reference string, spec api.RescueSpec) (api.Node, error) {
	var node api.Node
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return node, err
	}
	err = f.update(ctx, address, nil, func(v *view) error {
		if !v.known() {
			return refuse(NotFound, "node %s does not exist", reference)
		}
		if err := checkRescue(spec.AuthorizedKeys); err != nil {
			return err
		}
		if v.rescue == nil || !slices.Equal(v.rescue.AuthorizedKeys, spec.AuthorizedKeys) {
			begun := &rescue{Rescue: api.Rescue{RescueSpec: spec, Begun: v.now}, Number: v.revision + 1}
			if v.rescue != nil {
				begun.Begun = v.rescue.Begun
			}
			v.rescue = begun
			v.happened(api.Event{Kind: "rescue", Generation: v.status.Generation, Detail: fmt.Sprintf("begun, %d keys", len(spec.AuthorizedKeys))})
		}
		node = v.public()
		return nil
	})
	return node, err
}

// checkRescue refuses keys that no plan can hold.
func checkRescue(keys []string) error {
	if err := checkKeys(keys); err != nil {
		return err
	}
	if _, err := plan.Encode(plan.Rescue(0, keys)); err != nil {
		return invalid("body.authorized_keys", nil, fmt.Errorf("these %d keys do not fit into a plan; fewer or shorter ones do, such as ed25519: %w", len(keys), err))
	}
	return nil
}

// DeleteRescue ends a rescue. The node has the phase again that it had before.
func (f *Fleet) DeleteRescue(ctx context.Context, reference string) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, nil, func(v *view) error {
		if v.rescue == nil {
			return refuse(NotFound, "node %s is not under rescue", reference)
		}
		v.rescue = nil
		if v.status.Phase == api.UnderRescue {
			v.enter(v.status.Before)
		}
		v.happened(api.Event{Kind: "rescue", Generation: v.status.Generation, Detail: "ended"})
		return nil
	})
}

// detour gives the plan of a node that begins or ends a rescue; none when it goes on as it is wished.
func (v *view) detour(given int64) (plan.Plan, bool) {
	fresh := given == None
	if v.rescue != nil {
		return plan.Rescue(v.status.Generation, v.rescue.AuthorizedKeys), fresh || v.status.Rescue != v.rescue.Number
	}
	if fresh {
		v.status.Rescue = 0 // it was restarted, which ends a rescue too
	}
	if v.status.Rescue == 0 {
		return plan.Plan{}, false
	}
	return v.leaving(given)
}

// leaving gives the plan that ends a rescue which the node still runs. Nothing is done again that was not wished anew: a node that
// had failed waits, and one that was interrupted boots, as it would have without the rescue.
func (v *view) leaving(given int64) (plan.Plan, bool) {
	wished := v.wished()
	switch {
	case boot.Local(v.status, v.binding != nil, wished, false):
		return plan.Rebooting(wished), true
	case v.status.Phase == api.Failed && v.status.Generation == wished, v.binding == nil, v.satisfied():
		return plan.Waiting(wished), true
	case wished == given:
		return plan.Rebooting(wished), true
	default:
		return plan.Plan{}, false
	}
}

// handed notes that the node was given the plan of a detour, which is no progress of what is wished.
func (v *view) handed(wish plan.Plan) {
	if v.rescue != nil {
		v.rescue.Given = true
	}
	v.happened(api.Event{Kind: "plan", Generation: wish.Generation, Steps: len(wish.Steps), Detail: wish.Verbs()})
}

// onDetour takes what a node says of a rescue or of its end, and whether it was that. What was observed before stays as it was.
func (v *view) onDetour(line report.Line) bool {
	switch {
	case line.Verb == "rescue" && line.Kind == report.Begin:
		v.rescued()
	case line.Verb == "rescue":
		v.entered(line)
	case v.status.Rescue == 0:
		return false
	case line.Verb == "reboot":
		if line.Kind == report.End {
			v.status.Rescue = 0
		}
	case line.Verb == "idle":
		v.status.Rescue = 0
		if v.status.Phase != api.Failed {
			v.began(line.Verb)
		}
	default:
		v.status.Rescue = 0
		return false
	}
	return true
}

// rescued notes that the node runs the step rescue.
func (v *view) rescued() {
	if v.rescue == nil {
		v.status.Rescue = orphan
		return
	}
	if v.rescue.Given {
		v.status.Rescue = v.rescue.Number
	}
	if v.status.Phase != api.UnderRescue {
		before := v.status.Phase
		if before == "" { // never seen before
			before = api.Booting
		}
		v.enter(api.UnderRescue)
		v.status.Before = before
	}
}

// entered notes how the step rescue ended: with the address and the host key to enter by, or with a reason.
func (v *view) entered(line report.Line) {
	if v.rescue == nil {
		return
	}
	r := &v.rescue.Rescue
	r.Entered, r.Address, r.HostKey, r.Fingerprint, r.Reason = v.now, "", "", "", ""
	if line.Code != 0 {
		r.Reason = line.Reason
		v.happened(api.Event{Kind: "rescue", Generation: v.status.Generation, Code: line.Code, Detail: "failed: " + line.Reason})
		return
	}
	r.Address, r.HostKey, _ = strings.Cut(line.Detail, " ")
	r.Fingerprint = fingerprint(r.HostKey)
	v.happened(api.Event{Kind: "rescue", Generation: v.status.Generation, Detail: fmt.Sprintf("entered: root@%s, host key %s", r.Address, r.Fingerprint)})
}

// fingerprint is that of a public key, as ssh shows it.
func fingerprint(public string) string {
	_, blob, _ := strings.Cut(public, " ")
	blob, _, _ = strings.Cut(blob, " ")
	data, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || blob == "" {
		return "unknown"
	}
	sum := sha256.Sum256(data)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// settled is the phase that counts for what is wished: a rescue only interrupts it.
func settled(status api.Status) api.Phase {
	if status.Phase == api.UnderRescue {
		return status.Before
	}
	return status.Phase
}

// key of the rescue of a node.
func rescueKey(mac string) string { return key.Rescues + mac }
