// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

// ending is how a wait ended.
type ending struct {
	wish
	tally
	most time.Duration
}

const harmless = "Only this wait has to be done again: the next apply waits for the same generations and images nothing."

// explain tells why a wait failed; one that came true with some nodes left gets a warning.
func (e ending) explain(err error) diag.Diagnostics {
	var all diag.Diagnostics
	switch {
	case err == nil && len(e.ready) == len(e.nodes):
	case err == nil:
		all.AddWarning(fmt.Sprintf("%d of %d nodes are ready, which is enough", len(e.ready), len(e.nodes)), e.detail("The others may follow."))
	case errors.Is(err, errHopeless):
		all.AddError(fmt.Sprintf("%d of %d nodes failed", len(e.failed), len(e.nodes)), e.detail("A machine that failed tries again when it is "+
			"booted; playbooks/reimage.yml does that. "+harmless))
	case errors.Is(err, context.DeadlineExceeded):
		all.AddError(fmt.Sprintf("Not enough nodes are ready after %s", e.most), e.detail("See that they boot from the network "+
			"(playbooks/reimage.yml), or give more time with timeouts. "+harmless))
	case errors.Is(err, context.Canceled):
		all.AddError("The wait was interrupted", e.detail(harmless))
	case api.IsDenied(err):
		all.AddError("sledd does not let the nodes be watched", fmt.Sprintf("%s\n\nRole read is needed.", err))
	default:
		all.AddError("The nodes cannot be watched", err.Error())
	}
	return all
}

// detail begins with the figures and names the nodes that are not ready.
func (e ending) detail(hint string) string {
	return fmt.Sprintf("%d of %d nodes are ready, %d are required: %s.\n\n%s\n\n%s",
		len(e.ready), len(e.nodes), e.need, e.counts(), e.others(), hint)
}
