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
	goal
	tally
	most time.Duration
}

const harmless = "Only the wait is repeated: the next apply waits for the same generations and images nothing."

// explain describes why a wait failed; a goal that was met with some nodes left gets a warning.
func (e ending) explain(err error) diag.Diagnostics {
	var all diag.Diagnostics
	switch {
	case err == nil && len(e.ready) == len(e.nodes):
	case err == nil:
		all.AddWarning(fmt.Sprintf("%d of %d nodes are ready, which is enough", len(e.ready), len(e.nodes)),
			e.detail("The others may follow."))
	case errors.Is(err, errHopeless):
		all.AddError(fmt.Sprintf("%d of %d nodes failed", len(e.failed), len(e.nodes)),
			e.detail("A failed machine tries again when it is "+
				"booted; playbooks/reimage.yml boots it. One that is not admitted waits. "+harmless))
	case errors.Is(err, context.DeadlineExceeded):
		all.AddError(fmt.Sprintf("Not enough nodes are ready after %s", e.most),
			e.detail("Check that they boot from the network "+
				"(playbooks/reimage.yml), or raise timeouts. "+harmless))
	case errors.Is(err, context.Canceled):
		all.AddError("The wait was interrupted", e.detail(harmless))
	case api.IsDenied(err):
		all.AddError("sledd does not allow watching the nodes", fmt.Sprintf("%s\n\nRole read is needed.", err))
	default:
		all.AddError("The nodes cannot be watched", err.Error())
	}
	return all
}

// detail starts with the figures and lists the nodes that are not ready.
func (e ending) detail(hint string) string {
	return fmt.Sprintf("%d of %d nodes are ready, %d are required: %s.\n\n%s\n\n%s",
		len(e.ready), len(e.nodes), e.need, e.counts(), e.others(), hint)
}
