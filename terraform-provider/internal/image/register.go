// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
)

// measureTime bounds reading an image's index from all of its servers.
const measureTime = 5 * time.Minute

// measure reads the image from its URLs and completes model and spec. Values that are set must match.
func (i *image) measure(ctx context.Context, m *model, spec *api.ImageSpec) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	found, away, err := imagefile.Fetcher{Transport: i.site.Client().Transport()}.First(ctx, spec.URLs)
	if err != nil {
		summary, hint := "Image "+spec.Name+" cannot be read from its URLs",
			"Nothing was registered. Digest and sizes are read from the first of urls that answers: publish the "+
				"image there "+
				"first (playbooks/images.yml), or set digest, bytes and file_bytes, as sledc inspect prints them; "+
				"then nothing is read."
		if imagefile.IsRefused(err) {
			summary, hint = "Image "+spec.Name+" is invalid",
				"Nothing was registered. Publish it again; sledc verify in=FILE checks a whole file."
		}
		diagnostics.AddAttributeError(path.Root("urls"), summary, err.Error()+"\n\n"+hint)
		return diagnostics
	}
	for _, one := range away {
		diagnostics.AddAttributeWarning(path.Root("urls"), "Image "+spec.Name+" is missing at some of its URLs",
			one.Error())
	}
	if err := found.CheckKind(*spec); err != nil {
		diagnostics.AddAttributeError(path.Root("kind"), "Image "+spec.Name+" differs from the declared one",
			err.Error()+"\n\nNothing was registered.")
		return diagnostics
	}
	declaration, values := *spec, declared.Values(&m.Image)
	found.Measure(spec)
	for _, one := range attribute.Image {
		given, is := one.Field(&declaration).Interface(), one.Field(spec).Interface()
		if one.Measured && !isOpen(values[one.Name]) && given != is {
			diagnostics.AddAttributeError(path.Root(one.Name), "Image "+spec.Name+" differs from the declared one",
				fmt.Sprintf("%s is declared as %v, but is %v at its URLs. Nothing was registered.", one.Name, given, is))
		}
	}
	list, more := partitionList(ctx, found.Partitions)
	diagnostics.Append(more...)
	m.Partitions = list
	return diagnostics
}

// register registers the image. The same again is no error: the answer to an earlier attempt may have been lost.
func (i *image) register(ctx context.Context, spec api.ImageSpec) (api.Image, diag.Diagnostics) {
	var stored api.Image
	var taken error
	again := false
	diagnostics := i.site.Call(ctx, "register image "+spec.Name, func(ctx context.Context, client *api.Client) error {
		var err error
		stored, err = client.PutImage(ctx, spec, api.IfAbsent())
		if again = api.StatusOf(err) == http.StatusPreconditionFailed; again {
			stored, err = client.PutImage(ctx, spec)
		}
		if api.StatusOf(err) == http.StatusConflict {
			taken, err = err, nil
		}
		return err //nolint:wrapcheck // Call explains it
	})
	switch {
	case taken != nil:
		diagnostics.AddAttributeError(path.Root("name"), "The name "+spec.Name+" is taken",
			fmt.Sprintf("%s\n\nNothing was changed. "+
				"This one has digest %s. Sizes, architecture and kind count as content too. To use the "+
				"registered image, import it "+
				"with the ID %q and declare it here as it is.", taken, spec.Digest, spec.Name))
	case again && !diagnostics.HasError():
		diagnostics.AddAttributeWarning(path.Root("name"), "Image "+spec.Name+" was registered already, with the "+
			"same content",
			"It is in this state from now on, and forgotten when it is destroyed here.")
	}
	return stored, diagnostics
}
