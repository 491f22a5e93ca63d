// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// public is a binding as it is shown: without user data.
func (b *bound) public(status api.Status) api.Binding {
	shown := b.Binding
	shown.UserData = ""
	shown.Satisfied = satisfied(b, status)
	return shown
}

// Binding gives one binding.
func (f *Fleet) Binding(ctx context.Context, reference string) (api.Binding, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Binding{}, err
	}
	v, err := f.load(ctx, address)
	if err != nil {
		return api.Binding{}, err
	}
	if v.binding == nil {
		return api.Binding{}, refuse(NotFound, "node %s is not bound", reference)
	}
	return v.binding.public(v.status), nil
}

// PutBinding binds one node.
func (f *Fleet) PutBinding(ctx context.Context, reference string, change Change) (api.Binding, error) {
	address, err := f.sameNode(ctx, reference, change.Node)
	if err != nil {
		return api.Binding{}, err
	}
	var binding api.Binding
	err = retry(ctx, func(ctx context.Context) error {
		v, err := f.load(ctx, address, store.Key(key.Images+named(change.BindingSpec)))
		if err != nil {
			return err
		}
		binding, err = f.commit(ctx, v, change)
		return err
	})
	return binding, err
}

// commit makes a change to a node that was loaded with the image that the wish names.
func (f *Fleet) commit(ctx context.Context, v *view, change Change) (api.Binding, error) {
	image, err := v.image(named(change.BindingSpec))
	if err != nil {
		return api.Binding{}, err
	}
	if err := v.change(change, image); err != nil {
		return api.Binding{}, err
	}
	if t := v.transaction(); len(t.Do) > 0 {
		if v.binding.Revision, err = f.Store.Commit(ctx, t); err != nil {
			return api.Binding{}, err
		}
	}
	return v.binding.public(v.status), nil
}

// sameNode gives the MAC of the node that the path names, if the body names the same.
func (f *Fleet) sameNode(ctx context.Context, path, body string) (string, error) {
	address, err := f.Resolve(ctx, path)
	if err != nil {
		return "", err
	}
	same, err := f.Resolve(ctx, body)
	if IsKind(err, NotFound) || err == nil && same != address {
		return "", invalid("body.node", body, fmt.Errorf("the path says node %s, the body %s", path, body))
	}
	return address, err
}

// named is the image that a wish is about: the one to write, or the one to make.
func named(spec api.BindingSpec) string {
	if spec.Capture != "" {
		return spec.Capture
	}
	return spec.Image
}

// image gives the image that extra[0] asked for: nil when none is wished or there is none.
func (v *view) image(name string) (*api.Image, error) {
	if name == "" || len(v.extra[0]) == 0 {
		return nil, nil
	}
	image, err := readImage(v.extra[0][0])
	return &image, err
}

// bind notes a wish in the view, or nothing when it is the same as before.
func (v *view) bind(spec api.BindingSpec, image *api.Image, reimage bool) error {
	if err := v.checkBinding(spec, image); err != nil {
		return err
	}
	wish := bound{Binding: api.Binding{BindingSpec: spec, MAC: v.mac, Generation: v.status.Generation + 1, Updated: v.now}}
	if image != nil && spec.Capture == "" {
		wish.Digest, wish.Source = image.Digest, &image.ImageSpec
	}
	if spec.UserData != "" {
		sum := sha256.Sum256([]byte(spec.UserData))
		wish.UserDataSHA256 = hex.EncodeToString(sum[:])
	}
	if old := v.binding; old != nil {
		wish.Generation = max(wish.Generation, old.Generation+1)
		if !reimage && old.Digest == wish.Digest && api.SameDesired(old.BindingSpec, spec, old.UserDataSHA256, wish.UserDataSHA256) {
			wish.Generation, wish.Updated = old.Generation, old.Updated
		}
	}
	if err := v.checkCapture(&wish, image); err != nil {
		return err
	}
	p, err := plan.Build(*v.node, wish.Binding, wish.Source, v.captures.Upload)
	if err == nil {
		_, err = plan.Encode(p)
	}
	if err != nil {
		return invalid("body", nil, fmt.Errorf("node %s: no plan can be made: %w", spec.Node, err))
	}
	wish.Revision = 0 // the store's own
	if value := encode(wish); !bytes.Equal(value, v.read[iBinding].Value) {
		wish.Updated = v.now
		v.more.Put(key.Bindings+v.mac, encode(wish))
		if name := named(spec); image != nil {
			v.more.Unchanged(key.Images+name, image.Revision)
		} else if name != "" {
			v.more.Unchanged(key.Images+name, 0)
		}
		v.happened(api.Event{Kind: "bind", Generation: wish.Generation, Detail: named(spec)})
	}
	wish.Revision = v.read[iBinding].Revision
	v.binding = &wish
	return nil
}

func (v *view) checkBinding(spec api.BindingSpec, image *api.Image) error {
	if spec.Image != "" && spec.Capture != "" {
		return invalid("body.capture", spec.Capture, fmt.Errorf("a node gets image %s or is captured as %s, not both", spec.Image, spec.Capture))
	}
	if spec.Capture != "" && (len(v.captures.URLs) == 0 || v.captures.Upload == "") {
		return invalid("body.capture", spec.Capture, fmt.Errorf("nothing can be captured here: sledd was started without --image-urls or --upload-url"))
	}
	if spec.Image != "" && image == nil {
		return invalid("body.image", spec.Image, fmt.Errorf("image %s does not exist", spec.Image))
	}
	if spec.Image != "" && architecture(image.Architecture) != architecture(v.node.Architecture) {
		return invalid("body.image", spec.Image, fmt.Errorf("image %s is for %s, node %s is %s", image.Name,
			architecture(image.Architecture), v.node.Name, architecture(v.node.Architecture)))
	}
	if spec.Disk == "" && v.node.Disk == "" {
		return invalid("body.disk", "", fmt.Errorf("no disk: neither the binding nor node %s names one", v.node.Name))
	}
	if spec.Disk != "" {
		if err := plan.CheckSelector(spec.Disk); err != nil {
			return invalid("body.disk", spec.Disk, err)
		}
	}
	return checkKeys(spec.AuthorizedKeys)
}

// checkCapture refuses to make an image under a name that is taken, unless this very wish has made it.
func (v *view) checkCapture(wish *bound, image *api.Image) error {
	again := v.binding != nil && v.binding.Generation == wish.Generation
	if wish.Capture == "" || image == nil || again {
		return nil
	}
	return invalid("body.capture", wish.Capture, fmt.Errorf("image %s exists: choose another name for what is captured", image.Name))
}

// checkKeys refuses keys that would break out of their line.
func checkKeys(keys []string) error {
	for i, one := range keys {
		if one == "" || len(one) > 16384 || bytes.ContainsAny([]byte(one), "\n\r\x00") {
			return invalid(fmt.Sprintf("body.authorized_keys[%d]", i), one, fmt.Errorf("an authorized key is one line of 1 to 16384 bytes"))
		}
	}
	return nil
}

func architecture(name string) string {
	if name == "" {
		return "x86_64"
	}
	return name
}

// DeleteBinding takes the wish back. The disk stays as it is.
func (f *Fleet) DeleteBinding(ctx context.Context, reference string, change Change) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	change.Node, change.Unbind = reference, true
	return f.update(ctx, address, nil, func(v *view) error {
		bound := v.binding != nil
		if err := v.change(change, nil); err != nil {
			return err
		}
		if !bound {
			return refuse(NotFound, "node %s is not bound", reference)
		}
		return nil
	})
}
