// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"context"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Uploaded is an upload of a captured disk.
type Uploaded struct {
	MAC        string // of the node that made it
	Generation int64
	Upload     string // its id
}

// MayRead reports whether the holder of a token may read the file of an upload: the node that makes an image of it now,
// and nodes that are bound to that image. public: everybody may, because the image that the capture registered is
// signed by a key of the site. Any other signature or image that an operator registers for the file publishes nothing.
func (in *Intake) MayRead(ctx context.Context, bearer string, of Uploaded) (public bool, err error) {
	file := plan.CapturedFile(of.MAC, of.Generation, of.Upload)
	images, err := in.imagesOf(ctx, file)
	if err != nil {
		return false, err
	}
	for _, image := range images {
		if image.Captured == file && in.ImageKeys.Signed(image.Name, image.Digest, image.Statement, image.Signature) {
			return true, nil
		}
	}
	if bearer == "" {
		return false, refusal.New(refusal.Unauthorized, "%s is not public, as its image has no signature by a key of "+
			"sledd --image-keys: it is read with the token of a node that is bound to it, or by operators at "+
			"/v1/captured/%s", file, file)
	}
	owner, formed := token.Owner(bearer)
	if !formed {
		return false, refusal.New(refusal.Unauthorized, "the token is not one of a node")
	}
	reader, err := mac.FromPlain(owner)
	if err != nil {
		return false, refusal.New(refusal.Unauthorized, "the token is not one of a node")
	}
	return false, in.update(ctx, reader, nil, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, current)
		if err != nil {
			return err
		}
		if may := tx.rights(record); !may.Secrets {
			return refusal.New(refusal.Forbidden, "not yet: %s", may.Reason)
		}
		if tx.MAC == of.MAC && tx.mayUpload(of.Generation, record) == nil || tx.isBoundTo(images) {
			return nil
		}
		return refusal.New(refusal.Forbidden, "node %s is not bound to %s", tx.MAC, file)
	})
}

// isBoundTo reports whether the node is to be written with one of the images.
func (tx *nodeTx) isBoundTo(images []nodetx.StoredImage) bool {
	for _, image := range images {
		if tx.Binding() != nil && tx.Binding().Image == image.Name {
			return true
		}
	}
	return false
}

// imagesOf returns the images whose file is a captured one.
func (in *Intake) imagesOf(ctx context.Context, file string) ([]nodetx.StoredImage, error) {
	snapshot, err := in.DB.Store.Read(ctx, store.Prefix(key.Images))
	if err != nil {
		return nil, err
	}
	var found []nodetx.StoredImage
	for _, kv := range snapshot.Results[0] {
		if !bytes.Contains(kv.Value, []byte(file)) { // anybody may ask: most images are not decoded
			continue
		}
		var image nodetx.StoredImage
		if err := nodetx.Decode(kv, &image); err != nil {
			return nil, err
		}
		for _, url := range image.URLs {
			if strings.HasSuffix(url, plan.Captured+file) {
				found = append(found, image)
				break
			}
		}
	}
	return found, nil
}
