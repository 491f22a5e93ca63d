// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Binding returns one binding.
func (f *Fleet) Binding(ctx context.Context, reference string) (api.Binding, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Binding{}, err
	}
	tx, err := f.load(ctx, address)
	if err != nil {
		return api.Binding{}, err
	}
	if tx.Binding() == nil {
		return api.Binding{}, refusal.New(refusal.NotFound, "node %s is not bound", reference)
	}
	return tx.Binding().Public(*tx.Status()), nil
}

// PutBinding binds one node.
func (f *Fleet) PutBinding(ctx context.Context, reference string, change Change) (api.Binding, error) {
	address, err := f.sameNode(ctx, reference, change.Node)
	if err != nil {
		return api.Binding{}, err
	}
	var binding api.Binding
	err = nodetx.Retry(ctx, func(ctx context.Context) error {
		tx, err := f.load(ctx, address, nodetx.Facts, nodetx.Image(named(change.BindingSpec)))
		if err != nil {
			return err
		}
		binding, err = f.commit(ctx, tx, change)
		return err
	})
	return binding, err
}

// commit makes a change to a node that was loaded with the image that the change names.
func (f *Fleet) commit(ctx context.Context, tx *nodeTx, change Change) (api.Binding, error) {
	var err error
	if tx.hashKey, err = f.HashKey(ctx); err != nil {
		return api.Binding{}, err
	}
	kernel, err := f.kernelOf(ctx, change.BindingSpec)
	if err != nil {
		return api.Binding{}, err
	}
	if err := tx.change(change, tx.Image(), kernel); err != nil {
		return api.Binding{}, err
	}
	revision, err := f.Commit(ctx, tx.Tx)
	if err != nil {
		return api.Binding{}, err
	}
	if revision != 0 {
		tx.Binding().Revision = revision
	}
	return tx.result(change.Node), nil
}

// kernelOf returns the kernel that a binding names; nil: it names none, or one that does not exist.
func (f *Fleet) kernelOf(ctx context.Context, spec api.BindingSpec) (*api.Image, error) {
	if spec.Kernel == "" {
		return nil, nil //nolint:nilnil // none
	}
	kernel, err := f.Image(ctx, spec.Kernel)
	if refusal.Is(err, refusal.NotFound) {
		return nil, nil //nolint:nilnil // as the image, it is refused by what is at fault
	}
	return &kernel, err
}

// sameNode returns the MAC of the node that the path names, if the body names the same.
func (f *Fleet) sameNode(ctx context.Context, path, body string) (string, error) {
	address, err := f.Resolve(ctx, path)
	if err != nil {
		return "", err
	}
	same, err := f.Resolve(ctx, body)
	if refusal.Is(err, refusal.NotFound) || err == nil && same != address {
		return "", refusal.Value("body.node", body, fmt.Errorf("the path names node %s, the body %s", path, body))
	}
	return address, err
}

// named is the image that a binding is about: the one to write, or the one to make.
func named(spec api.BindingSpec) string {
	if spec.Capture != "" {
		return spec.Capture
	}
	return spec.Image
}

// bind stages the binding, or nothing if it equals the stored one.
func (tx *nodeTx) bind(spec api.BindingSpec, image, kernel *api.Image, reimage bool) (err error) {
	if err := tx.checkBinding(spec, image); err != nil {
		return err
	}
	if err := tx.checkKernel(spec, image, kernel); err != nil {
		return err
	}
	if spec.AuthorizedKeys, err = checkKeys(spec.AuthorizedKeys); err != nil {
		return err
	}
	desired := nodetx.Binding{Binding: api.Binding{BindingSpec: spec, MAC: tx.MAC, Updated: tx.Now,
		Generation: api.NextGeneration(0, tx.Status().Generation)}}
	if image != nil && spec.Capture == "" {
		desired.Digest, desired.Source = image.Digest, &image.ImageSpec
	}
	desired.On = specOf(kernel)
	desired.UserDataSHA256 = api.UserDataHash(tx.hashKey, spec.UserData)
	tx.before, tx.done = tx.Binding(), tx.Satisfied()
	tx.why = tx.reasons(&desired, reimage)
	if old := tx.before; old != nil {
		desired.Generation = api.NextGeneration(old.Generation, tx.Status().Generation)
		if len(tx.why) == 0 {
			desired.Generation, desired.Updated = old.Generation, old.Updated
			tx.rename(&desired)
		}
	}
	tx.number(&desired)
	if err := tx.checkCapture(&desired, image); err != nil {
		return err
	}
	if err := tx.checkPlans(&desired); err != nil {
		return err
	}
	tx.fleet.Seal(&desired, tx.Binding())
	desired.Revision = 0 // the store's own
	changed := !bytes.Equal(nodetx.Encode(desired), tx.StoredValue(nodetx.BindingOf))
	if changed {
		desired.Updated = tx.Now
		tx.imageStays(named(spec), image)
		tx.imageStays(spec.Kernel, kernel)
		tx.AddEvent(api.Event{Kind: "bind", Generation: desired.Generation, Detail: nodetext.Clean(named(spec))})
	}
	tx.Bind(desired, changed)
	return cmp.Or(tx.handOver(), tx.mayRestart())
}

// specOf returns what an image is declared as; nil: there is none.
func specOf(image *api.Image) *api.ImageSpec {
	if image == nil {
		return nil
	}
	return &image.ImageSpec
}

// imageStays requires that an image of a name, which may be none, is what the change was decided with.
func (tx *nodeTx) imageStays(name string, image *api.Image) {
	switch {
	case name == "":
	case image == nil:
		tx.Writes.Unchanged(key.Images+name, 0)
	default:
		tx.Writes.Unchanged(key.Images+name, image.Revision)
	}
}

// checkPlans refuses a binding of which a plan cannot be made.
func (tx *nodeTx) checkPlans(desired *nodetx.Binding) error {
	request := tx.fleet.request(*tx.Node(), desired)
	for _, kernel := range []*api.ImageSpec{nil, desired.On} {
		request.Kernel = kernel
		p, err := plan.Draft(request)
		if err == nil {
			_, err = plan.Encode(p)
		}
		if err != nil {
			return refusal.Value("body", nil, fmt.Errorf("node %s: no plan can be made: %w", desired.Node, err))
		}
	}
	return nil
}

// request is what a plan of a binding is made for.
func (f *Fleet) request(node api.NodeSpec, bound *nodetx.Binding) plan.Request {
	return plan.Request{Generation: bound.Generation, Binding: &bound.Binding, Image: bound.Source, Node: node,
		Site: plan.Site{Upload: f.UploadURL}}
}

// number counts the seeds of a node, so that a seed that it received is distinguished from a later one.
func (tx *nodeTx) number(desired *nodetx.Binding) {
	desired.SeedNumber = tx.Status().SeedNumber
	if old := tx.before; old != nil {
		desired.SeedNumber = max(desired.SeedNumber, old.SeedNumber)
		if !api.SameSeed(old.Effect(), desired.Effect(), tx.Spec()) {
			desired.SeedNumber++
		}
	}
}

// rename calls what is on the disk as the binding does, where the same content has several.
func (tx *nodeTx) rename(desired *nodetx.Binding) {
	if status := tx.Status(); status.Image != "" && status.Digest != "" && status.Digest == desired.Digest {
		status.Image = desired.Image
	}
}

func (tx *nodeTx) checkBinding(spec api.BindingSpec, image *api.Image) error {
	if spec.Image != "" && spec.Capture != "" {
		return refusal.Value("body.capture", spec.Capture,
			fmt.Errorf("a node gets image %s or is captured as %s, not both", spec.Image, spec.Capture))
	}
	if spec.Capture != "" && (len(tx.fleet.ImageURLs) == 0 || tx.fleet.UploadURL == "") {
		return refusal.Value("body.capture", spec.Capture,
			fmt.Errorf("this sledd cannot capture disks: it was started without --image-urls or --upload-url"))
	}
	if spec.Image != "" && image == nil {
		return refusal.Value("body.image", spec.Image, fmt.Errorf("image %s does not exist", spec.Image))
	}
	if err := cmp.Or(tx.checkMemory(spec, image), checkOnePartition(spec, image)); err != nil {
		return err
	}
	if spec.Image != "" && architecture(image.Architecture) != architecture(tx.Node().Architecture) {
		return refusal.Value("body.image", spec.Image, fmt.Errorf("image %s is for %s, node %s is %s", image.Name,
			architecture(image.Architecture), tx.Node().Name, architecture(tx.Node().Architecture)))
	}
	if spec.Transport == plan.Multicast && !tx.fleet.Multicast {
		return refusal.Value("body.transport", spec.Transport,
			fmt.Errorf("this sledd knows no multicast sender: it was started without --multicast; auto needs none"))
	}
	memory := spec.Image != "" && image.InMemory()
	if spec.Disk == "" && tx.Node().Disk == "" && !spec.WipesAll() && !memory {
		return refusal.Value("body.disk", "",
			fmt.Errorf("no disk: neither the binding nor node %s names one", tx.Node().Name))
	}
	if err := checkMethod(spec); err != nil {
		return err
	}
	if err := checkConfigure(spec); err != nil {
		return err
	}
	if spec.Disk != "" {
		if err := plan.CheckSelector(spec.Disk); err != nil {
			return refusal.Value("body.disk", spec.Disk, err)
		}
	}
	if err := api.CheckUserData(spec.UserData); err != nil {
		return refusal.Value("body.user_data", nil, err)
	}
	return nil
}

// checkMethod refuses a method that cannot reach the level, as the node would.
func checkMethod(spec api.BindingSpec) error {
	named := spec.WipeMethod != "" && spec.WipeMethod != "auto"
	if named && spec.Wipe != "purge" && spec.Wipe != "clear" {
		return refusal.Value("body.wipe_method", spec.WipeMethod,
			fmt.Errorf("a drive erases itself with wipe purge or clear, not with %q", spec.Wipe))
	}
	if spec.WipeMethod == "ata-security-erase" && spec.Wipe == "purge" {
		return refusal.Value("body.wipe_method", spec.WipeMethod,
			errors.New("ata-security-erase reaches what clear does: purge takes ata-security-erase-enhanced"))
	}
	return nil
}

// checkConfigure refuses what an image that is not configured never gets.
func checkConfigure(spec api.BindingSpec) error {
	if spec.Configure != api.Unconfigured {
		return nil
	}
	for _, one := range []struct {
		name string
		set  bool
	}{{"hostname", spec.Hostname != ""}, {"authorized_keys", len(spec.AuthorizedKeys) > 0},
		{"user_data", spec.UserData != ""}} {
		if one.set {
			return refusal.Value("body.configure", spec.Configure,
				fmt.Errorf("an image that is not configured gets no %s: leave it out", one.name))
		}
	}
	return nil
}

// checkOnePartition refuses a binding that would reach outside of a partition.
func checkOnePartition(spec api.BindingSpec, image *api.Image) error {
	if spec.Image == "" {
		image = nil // the one of that name that a capture would make
	}
	if attribute, err := plan.CheckOnePartition(spec, specOf(image)); err != nil {
		return refusal.Value("body."+attribute, nil, err)
	}
	return nil
}

// checkCapture refuses to make an image under a name that is taken, unless this very desired has made it.
func (tx *nodeTx) checkCapture(desired *nodetx.Binding, image *api.Image) error {
	again := tx.Binding() != nil && tx.Binding().Generation == desired.Generation
	if desired.Capture == "" || image == nil || again {
		return nil
	}
	return refusal.Value("body.capture", desired.Capture,
		fmt.Errorf("image %s exists: choose another name for the captured image", image.Name))
}

func architecture(name string) string {
	if name == "" {
		return "x86_64"
	}
	return name
}

// DeleteBinding deletes a node's binding. The disk stays as it is.
func (f *Fleet) DeleteBinding(ctx context.Context, reference string, change Change) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	change.Node, change.Unbind = reference, true
	return f.update(ctx, address, func(tx *nodeTx) error {
		bound := tx.Binding() != nil
		if err := tx.change(change, nil, nil); err != nil {
			return err
		}
		if !bound {
			return refusal.New(refusal.NotFound, "node %s is not bound", reference)
		}
		return nil
	})
}
