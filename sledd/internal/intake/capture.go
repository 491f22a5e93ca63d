// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Labels of a captured image: its node, and the level at which the machine was admitted that made it.
const (
	capturedFrom = "captured-from"
	capturedAt   = "captured-admission"
)

// Upload reports whether the holder of a token may upload the image of a generation now: only while
// that node is to be captured. One that ends later becomes a file that no image names.
func (in *Intake) Upload(ctx context.Context, mac, bearer string, generation int64) error {
	var full error
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Events(recent)}, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, current)
		if err != nil {
			return err
		}
		if may := tx.rights(record); !may.Secrets {
			return refusal.New(refusal.Forbidden, "not yet: %s", may.Reason)
		}
		if err := tx.mayUpload(generation, record); err != nil {
			return err
		}
		event := api.Event{Kind: "upload", Generation: generation}
		if full = in.Uploads.room(plan.CapturedStem(tx.MAC, generation)); full != nil {
			event.Detail = nodetext.Clean("refused: " + full.Error())
		}
		tx.addOnce(event)
		return nil
	})
	if err == nil && full != nil {
		return refusal.New(refusal.Forbidden, "node %s may not upload: %v", mac, full)
	}
	return err
}

// mayUpload refuses an upload that the binding does not request.
func (tx *nodeTx) mayUpload(generation int64, record *token.Record) error {
	if tx.Detour() != nil {
		return refusal.New(refusal.Forbidden, "node %s is %s", tx.MAC, tx.Detour().State())
	}
	if generation != record.Generation || generation != tx.Generation() {
		return refusal.New(refusal.Forbidden,
			"node %s may not upload an image of generation %d: the binding has generation %d",
			tx.MAC, generation, tx.Generation())
	}
	if tx.Binding() == nil || tx.Binding().Capture == "" || tx.captureEnded() {
		return refusal.New(refusal.Forbidden, "the binding of node %s requests no capture", tx.MAC)
	}
	return nil
}

// captureEnded reports whether the step capture has succeeded in this generation, even if its image was not registered.
func (tx *nodeTx) captureEnded() bool {
	return tx.Satisfied() || tx.Status().Generation == tx.Generation() &&
		nodetx.SettledPhase(*tx.Status()) == api.Failed && tx.Status().Code == 0
}

// recordCapture takes the end of a step capture: the image is registered, or the node has failed, with the reason.
func (in *Intake) recordCapture(ctx context.Context, tx *nodeTx, sent report.Report, line report.Line) error {
	if tx.Binding() == nil || tx.Binding().Capture == "" || tx.Binding().Generation != sent.Generation {
		return nil // the binding has changed
	}
	if line.Made.Digest.IsZero() {
		tx.refuseCapture("the step capture did not say what it made")
		return nil
	}
	if most := largestImage(tx.Facts()); most > 0 && line.Made.FileBytes > most {
		tx.refuseCapture(fmt.Sprintf("the image has %d bytes, more than the largest disk of the node and a tenth (%d)",
			line.Made.FileBytes, most))
		return nil
	}
	if len(tx.in.ImageURLs) == 0 {
		tx.refuseCapture("sledd cannot say where the image is: it was started without --image-urls")
		return nil
	}
	spec := tx.capturedImage(sent.Generation, line.Made)
	there, err := in.DB.Image(ctx, spec.Name)
	switch {
	case refusal.Is(err, refusal.NotFound):
		tx.Writes.Unchanged(key.Images+spec.Name, 0)
		tx.Writes.Put(key.Images+spec.Name, nodetx.Encode(nodetx.StoredImage{ImageSpec: spec, Created: tx.Now,
			Captured: plan.CapturedFile(tx.MAC, sent.Generation, line.Made.Upload)}))
		tx.AddEvent(api.Event{Kind: "image", Generation: sent.Generation,
			Detail: nodetext.Clean(spec.Name + " " + spec.Digest)})
	case err != nil:
		return err
	case there.Digest != spec.Digest || !slices.Equal(there.URLs, spec.URLs):
		tx.refuseCapture(fmt.Sprintf("image %s was registered meanwhile with digest %s: capture under another name",
			spec.Name, there.Digest))
		return nil
	}
	tx.Enter(api.Captured)
	return nil
}

// refuseCapture records that a capture became no image. The step was done, so there is no code, and
// the node does not repeat it.
func (tx *nodeTx) refuseCapture(reason string) {
	tx.Enter(api.Failed)
	tx.Status().Code, tx.Status().Reason = 0, nodetext.Clean(reason)
}

// made is the image that a capture made.
func (tx *nodeTx) capturedImage(generation int64, made report.Made) api.ImageSpec {
	spec := api.ImageSpec{Name: tx.Binding().Capture, Digest: made.Digest.String(), Bytes: made.Bytes,
		FileBytes: made.FileBytes,
		Labels:    map[string]string{capturedFrom: tx.MAC}}
	if tx.Node() != nil {
		spec.Architecture, spec.Labels[capturedFrom] = tx.Node().Architecture, tx.Node().Name
	}
	if tx.Binding().Partition != "" {
		spec.Kind = api.PartitionImage
	}
	if incumbent := tx.Admission().Incumbent; incumbent != nil {
		spec.Labels[capturedAt] = incumbent.Level.String()
	}
	for _, base := range tx.in.ImageURLs {
		spec.URLs = append(spec.URLs, base+plan.Captured+plan.CapturedFile(tx.MAC, generation, made.Upload))
	}
	return spec
}
