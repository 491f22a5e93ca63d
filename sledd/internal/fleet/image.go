// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Images returns all images by name.
func (f *Fleet) Images(ctx context.Context) (api.ImageList, error) {
	list := api.ImageList{Items: []api.Image{}}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Images))
	if err != nil {
		return list, err
	}
	for _, kv := range snapshot.Results[0] {
		image, err := nodetx.ReadImage(kv)
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, image)
	}
	return list, nil
}

// checkStatement refuses a statement that is not of this image, or one without its signature, or a signature alone. The
// signature is checked by the nodes, and by sledd before it publishes a captured image.
func checkStatement(spec api.ImageSpec) error {
	if spec.Statement == "" && spec.Signature == "" {
		return nil
	}
	statement, err := imagefile.ParseStatement(spec.Statement)
	if err == nil {
		err = statement.Fits(spec.Name, spec.Digest)
	}
	if (spec.Statement == "") != (spec.Signature == "") {
		err = errors.New("statement and signature belong together: send both, as sledc sign prints them")
	}
	if err != nil {
		return refusal.Value("body.statement", spec.Statement, err)
	}
	return nil
}

// PutImage registers an image. The same again is fine, and so are other URLs, labels and signatures; other content
// under the same name is not. Nodes that have no plan yet get the new URLs.
func (f *Fleet) PutImage(ctx context.Context, name string, spec api.ImageSpec,
	wanted nodetx.Wanted) (api.Image, error) {
	if name != spec.Name {
		return api.Image{}, refusal.Value("path.name", name, fmt.Errorf("the path names %s, the body %s", name, spec.Name))
	}
	for i, url := range spec.URLs {
		if err := plan.CheckURL(url); err != nil {
			return api.Image{}, refusal.Value(fmt.Sprintf("body.urls[%d]", i), url, err)
		}
	}
	if err := cmp.Or(checkStatement(spec), checkLabels(spec.Labels)); err != nil {
		return api.Image{}, err
	}
	if err := cmp.Or(checkKind(spec), checkPayload(spec)); err != nil {
		return api.Image{}, err
	}
	var image api.Image
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		stored, revision, err := f.StoredImage(ctx, name)
		if err != nil && !refusal.Is(err, refusal.NotFound) {
			return err
		}
		if err := wanted.Check("image "+name, revision); err != nil {
			return err
		}
		image = stored.Public(revision)
		if revision == 0 {
			stored.Created = f.Now()
		} else if changed, err := revise(stored.ImageSpec, &spec); err != nil || !changed {
			return err
		}
		if err := checkWithdrawn(stored, spec); err != nil {
			return err
		}
		stored.ImageSpec = spec
		var t store.Transaction
		t.Unchanged(key.Images+name, revision)
		t.Put(key.Images+name, nodetx.Encode(stored))
		revision, err = f.Store.Commit(ctx, t)
		image = stored.Public(revision)
		return err
	})
	return image, err
}

// checkWithdrawn refuses a signature that was withdrawn, or is older: who had it has it still.
func checkWithdrawn(stored nodetx.StoredImage, spec api.ImageSpec) error {
	if spec.Statement == "" || stored.Unsigned.IsZero() {
		return nil
	}
	statement, err := imagefile.ParseStatement(spec.Statement)
	if err == nil && !statement.Signed.After(stored.Unsigned) {
		return refusal.New(refusal.Conflict, "image %s: a signature of %s is not accepted, as the signature was withdrawn "+
			"on %s: sign the image again", spec.Name, statement.Signed.Format(time.RFC3339),
			stored.Unsigned.Format(time.RFC3339))
	}
	return nil
}

// UnsignImage withdraws the signature of an image. One that was made before counts no more.
func (f *Fleet) UnsignImage(ctx context.Context, name string, wanted nodetx.Wanted) (api.Image, error) {
	var image api.Image
	err := nodetx.Retry(ctx, func(ctx context.Context) error {
		stored, revision, err := f.StoredImage(ctx, name)
		if err != nil {
			return err
		}
		if err := wanted.Check("image "+name, revision); err != nil {
			return err
		}
		stored.Statement, stored.Signature = "", ""
		stored.Unsigned = f.Now().UTC().Truncate(time.Second) // as statements have whole seconds
		var t store.Transaction
		t.Unchanged(key.Images+name, revision)
		t.Put(key.Images+name, nodetx.Encode(stored))
		revision, err = f.Store.Commit(ctx, t)
		image = stored.Public(revision)
		return err
	})
	return image, err
}

// revise reports whether a spec changes a registered image. Nothing that is fixed may change. An existing signature is
// not removed; it is copied into spec, with its statement.
func revise(old api.ImageSpec, spec *api.ImageSpec) (bool, error) {
	if spec.Signature == "" {
		spec.Signature, spec.Statement = old.Signature, old.Statement
	}
	if len(spec.Labels) == 0 {
		spec.Labels = nil
	}
	for _, one := range attribute.Image {
		if one.Fixed && !reflect.DeepEqual(one.Meant(&old), one.Meant(spec)) {
			return false, refusal.New(refusal.Conflict, "image %s is registered with other content (%s): "+
				"another content gets another name", spec.Name, one.Title())
		}
	}
	return !reflect.DeepEqual(old, *spec), nil
}

// DeleteImage removes an image that no binding names, as its image or its kernel.
func (f *Fleet) DeleteImage(ctx context.Context, name string, wanted nodetx.Wanted) error {
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Images+name), store.Prefix(key.Bindings))
		if err != nil {
			return err
		}
		kv, found := snapshot.One(0)
		if err := wanted.Check("image "+name, kv.Revision); err != nil {
			return err
		}
		if !found {
			return refusal.New(refusal.NotFound, "image %s does not exist", name)
		}
		for _, stored := range snapshot.Results[1] {
			var binding nodetx.Binding
			if err := nodetx.Decode(stored, &binding); err != nil {
				return err
			}
			if binding.Image == name {
				return refusal.New(refusal.Conflict, "image %s is bound to node %s", name, binding.Node)
			}
			if binding.Kernel == name {
				return refusal.New(refusal.Conflict, "image %s is the kernel that node %s is bound to", name, binding.Node)
			}
		}
		var t store.Transaction
		t.Unchanged(kv.Key, kv.Revision)
		t.If = append(t.If, store.Condition{Key: key.Bindings, To: store.PrefixEnd(key.Bindings),
			Revision: snapshot.Revision})
		t.Delete(kv.Key)
		_, err = f.Store.Commit(ctx, t)
		return err
	})
}
