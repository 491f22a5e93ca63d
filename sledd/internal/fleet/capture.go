// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// capturedFrom is the label of a captured image that names its node.
const capturedFrom = "captured-from"

// Upload says whether the holder of a token may put the image of a generation now: only while that node is to be captured, so that the
// file of an image that is registered never changes.
func (f *Fleet) Upload(ctx context.Context, mac, bearer string, generation int64) error {
	v, err := f.load(ctx, mac)
	if err != nil {
		return err
	}
	record, err := v.authenticate(bearer, token.Boot, current)
	if err != nil {
		return err
	}
	if v.rescue != nil {
		return refuse(Forbidden, "node %s is under rescue", mac)
	}
	if generation != record.Generation || generation != v.wished() {
		return refuse(Forbidden, "node %s may not put an image of generation %d: generation %d is wished", mac, generation, v.wished())
	}
	if v.binding == nil || v.binding.Capture == "" || v.finished() {
		return refuse(Forbidden, "node %s is not to be captured", mac)
	}
	return nil
}

// finished says whether the step capture has ended well in this generation, even if its image could not be registered.
func (v *view) finished() bool {
	return v.satisfied() || v.status.Generation == v.wished() && settled(v.status) == api.Failed && v.status.Code == 0
}

// captured takes the end of a step capture: the image is registered, or the node has failed, with the reason.
func (f *Fleet) captured(ctx context.Context, v *view, said report.Report, line report.Line) error {
	if v.binding == nil || v.binding.Capture == "" || v.binding.Generation != said.Generation {
		return nil // not wished any more
	}
	if line.Made.Digest == "" {
		v.refuseCapture("the step capture did not say what it made")
		return nil
	}
	if len(v.captures.URLs) == 0 {
		v.refuseCapture("sledd cannot say where the image is: it was started without --image-urls")
		return nil
	}
	spec := v.made(said.Generation, line.Made)
	there, err := f.Image(ctx, spec.Name)
	switch {
	case IsKind(err, NotFound):
		v.more.Unchanged(key.Images+spec.Name, 0)
		v.more.Put(key.Images+spec.Name, encode(storedImage{spec, v.now}))
		v.happened(api.Event{Kind: "image", Generation: said.Generation, Detail: spec.Name + " " + spec.Digest})
	case err != nil:
		return err
	case there.Digest != spec.Digest || !slices.Equal(there.URLs, spec.URLs):
		v.refuseCapture(fmt.Sprintf("image %s was registered meanwhile with digest %s: capture under another name", spec.Name, there.Digest))
		return nil
	}
	v.enter(api.Captured)
	return nil
}

// refuseCapture notes that what was captured became no image. The step was done, so there is no code, and the node is not asked again.
func (v *view) refuseCapture(reason string) {
	v.enter(api.Failed)
	v.status.Code, v.status.Reason = 0, reason
}

// made is the image that a capture made.
func (v *view) made(generation int64, made report.Made) api.ImageSpec {
	spec := api.ImageSpec{Name: v.binding.Capture, Digest: made.Digest, Bytes: made.Bytes, FileBytes: made.FileBytes,
		Labels: map[string]string{capturedFrom: v.mac}}
	if v.node != nil {
		spec.Architecture, spec.Labels[capturedFrom] = v.node.Architecture, v.node.Name
	}
	for _, base := range v.captures.URLs {
		spec.URLs = append(spec.URLs, base+"/captured/"+plan.CapturedFile(v.mac, generation))
	}
	return spec
}
