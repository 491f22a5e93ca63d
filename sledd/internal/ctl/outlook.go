// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// outlooks requests a dry run, and returns what the bindings would do to their nodes.
func outlooks(
	ctx context.Context, client *api.Client, items []api.BulkBinding, options []api.Option,
) ([]api.Outlook, error) {
	judged, err := bindAll(ctx, client, items, append(options, api.DryRun())...)
	if err != nil {
		return nil, err
	}
	all := make([]api.Outlook, 0, len(judged))
	for _, binding := range judged {
		if binding.Outlook == nil {
			return nil, fmt.Errorf("%s: the response to a dry run has no outlook: is this sledd older than sledctl?",
				binding.Node)
		}
		all = append(all, *binding.Outlook)
	}
	return all, nil
}

// previewOf puts the outlooks of bindings into words.
func previewOf(all []api.Outlook) preview {
	p := preview{}
	var memory []string
	for _, o := range all {
		switch {
		case o.Wipes != "":
			p.lines = append(p.lines, wording.Outlook(o))
		case o.Memory && len(o.Why) > 0:
			memory = append(memory, wording.Outlook(o))
		default:
			p.more = append(p.more, wording.Outlook(o))
		}
		if o.Warning != "" && o.Changed {
			memory = append(memory, o.Node+": warning: "+o.Warning)
		}
		if o.Again() {
			p.again = append(p.again, o.Node)
		}
	}
	p.wiped = len(p.lines)
	p.lines = append(p.lines, memory...)
	p.sum = fmt.Sprintf("%d of %s to wipe", p.wiped, wording.Nodes(len(all)))
	if first := p.wiped - len(p.again); first > 0 {
		p.sum += fmt.Sprintf(", %d of them for the first time", first)
	}
	if len(p.lines) > 0 {
		p.sum += ":"
	}
	if p.wiped > 0 {
		p.question = fmt.Sprintf("Wipe %s?", wording.Nodes(p.wiped))
	}
	return p
}

// pinned makes each item fail if its node would not get the generation that was shown.
func pinned(items []api.BulkBinding, shown []api.Outlook) []api.BulkBinding {
	for i := range items {
		items[i].IfGeneration = shown[i].Generation
	}
	return items
}
