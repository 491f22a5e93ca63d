// SPDX-License-Identifier: Apache-2.0

package site

import (
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// repeated is an error whose cause another resource of the run has reported.
type repeated struct{ diag.Diagnostic }

// causes are those that were reported in a run, each once.
type causes struct {
	mu   sync.Mutex
	told map[string]bool
}

// report returns the whole error the first time that a cause occurs in a run, and afterwards one with the cause in a
// line, which DropRepeated removes.
func (c *causes) report(cause, summary, detail, short string) diag.Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.told[cause] {
		note(&c.told, cause)
		return diag.NewErrorDiagnostic(summary, detail)
	}
	return repeated{diag.NewErrorDiagnostic(summary, short)}
}

// DropRepeated removes errors whose cause was reported before, for a refresh or a plan: one error is enough to end it,
// and what such a resource leaves undone is not used. An apply has to keep them, because without an error the CLI takes
// the resource for changed.
func DropRepeated(diagnostics *diag.Diagnostics) {
	*diagnostics = slices.DeleteFunc(*diagnostics, func(one diag.Diagnostic) bool {
		_, again := one.(repeated)
		return again
	})
}
