// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// severalWarnings is up to how many nodes get a separate warning. Terraform folds warnings that start alike.
const severalWarnings = textlist.Most

// Guard counts the machines that a plan images again, over all resources of the run. It is safe for concurrent use.
type Guard struct {
	limit *int64 // of machines that are imaged again; nil: none
	wipes *int64 // of machines that are written, first images included; nil: none

	mu     sync.Mutex
	noted  map[string]bool   // names of nodes that are written
	again  map[string]bool   // those of them that held something of Sled's
	known  map[string]bool   // MACs and names of machines that the state has as bound
	firsts map[string]string // name of a node that is written, by MAC and by name, where sledd knows of no binding
	passed bool              // a limit was, and that was reported: one error is enough to end a plan
	held   map[string]*Held  // bindings that this run's state has, by MAC
}

// Reimage is one machine that a plan writes.
type Reimage struct {
	Node, Disk, Image string // Image empty: all disks are only wiped
	Partition         string // of the disk, whose other bytes stay; empty: all of it
	MAC               string // empty: not known
	From, To          int64  // generations; From 0: it had none, To 0: not known yet
	Unknown           bool   // which machine it is: it may have one already
}

// First reports whether sledd knows of no binding that the machine ever had.
func (r Reimage) First() bool { return r.From == 0 && !r.Unknown }

func (r Reimage) String() string {
	what := fmt.Sprintf("disk %s is wiped and gets image %s", r.Disk, r.Image)
	switch {
	case r.Image == "":
		what = "all disks are wiped"
	case r.Disk == api.AllDisks: // it changes hands
		what = "all disks are wiped and one gets image " + r.Image
	case r.Partition != "":
		what = fmt.Sprintf("partition %s of disk %s gets image %s", r.Partition, r.Disk, r.Image)
	}
	generations := fmt.Sprintf("generation %d -> %d", r.From, r.To)
	switch {
	case r.Unknown:
		generations = "node known after apply"
	case r.To == 0 && r.First():
		generations = "first image"
	case r.To == 0:
		generations = fmt.Sprintf("generation %d -> a later one", r.From)
	}
	return fmt.Sprintf("%s: %s (%s)", r.Node, what, generations)
}

// Plan records machines that a plan writes. It returns a warning for each, and one error for the whole run once
// more than max_reimages or max_wipes were recorded.
func (g *Guard) Plan(all ...Reimage) diag.Diagnostics {
	g.mu.Lock()
	defer g.mu.Unlock()
	var diagnostics diag.Diagnostics
	for _, one := range all {
		note(&g.noted, one.Node)
		if !one.First() || g.known[one.MAC] || g.known[one.Node] {
			note(&g.again, one.Node)
			continue
		}
		if g.firsts == nil {
			g.firsts = map[string]string{}
		}
		g.firsts[one.MAC], g.firsts[one.Node] = one.Node, one.Node
	}
	diagnostics.Append(g.warn(all)...)
	diagnostics.Append(g.limits()...)
	return diagnostics
}

// Know records that the state has this machine as bound, whatever sledd reports: a store may be lost. Imaging it is no
// first image. It returns the error of Plan, because the plan may have been made before.
func (g *Guard) Know(mac, name string) diag.Diagnostics {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range []string{mac, name} {
		if key == "" {
			continue
		}
		note(&g.known, key)
		if node, found := g.firsts[key]; found {
			note(&g.again, node)
		}
	}
	return g.limits()
}

// limits is the error of a plan past a limit.
func (g *Guard) limits() diag.Diagnostics {
	var diagnostics diag.Diagnostics
	switch {
	case g.passed:
	case g.limit != nil && int64(len(g.again)) > *g.limit:
		diagnostics.AddError("Too many machines would be imaged again", g.excess("max_reimages", "images", *g.limit, g.again))
	case g.wipes != nil && int64(len(g.noted)) > *g.wipes:
		diagnostics.AddError("Too many disks would be wiped", g.excess("max_wipes", "wipes disks of", *g.wipes, g.noted))
	}
	return diagnostics
}

// Limits are those of a request that changes many machines: the provider's, and the lower number of images of both.
func (g *Guard) Limits(images types.Int64) api.Limits {
	lower := func(limits ...*int64) *int {
		var least *int
		for _, one := range limits {
			if one != nil && (least == nil || int(*one) < *least) {
				least = new(int(*one))
			}
		}
		return least
	}
	return api.Limits{MaxWipes: lower(g.wipes), MaxReimages: lower(g.limit, images.ValueInt64Pointer())}
}

// excess is the only report of a plan past a limit, with the machines that are known so far.
func (g *Guard) excess(limit, does string, most int64, machines map[string]bool) string {
	g.passed = true
	names := slices.Collect(maps.Keys(machines))
	return fmt.Sprintf("%s of the provider is %d, this plan %s at least %d: %s.\n\nPlan fewer (-target, or "+
		"another configuration), or raise %s.", limit, most, does, len(names), textlist.Sentence(names), limit)
}

// Held is a binding that the state has.
type Held struct {
	Wipes      bool     // when it is destroyed
	Undeclared []string // attributes that only an import knows, so that a replacement would lose them
}

// Hold records that the state has a binding of this MAC which stays in the configuration. If the plan also creates one
// for it, that replaces this one.
func (g *Guard) Hold(mac string, binding Held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = map[string]*Held{}
	}
	g.held[mac] = &binding
}

// Held returns what Hold recorded for this MAC; nil: nothing.
func (g *Guard) Held(mac string) *Held {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[mac]
}

func note(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

func (g *Guard) warn(all []Reimage) diag.Diagnostics {
	var diagnostics diag.Diagnostics
	const detail = "What is on that disk is lost when the plan is applied and the machine boots."
	if len(all) <= severalWarnings && len(g.noted) <= severalWarnings {
		for _, one := range all {
			told := detail
			if one.Image == "" {
				told = strings.Replace(detail, "that disk", "those disks", 1)
			}
			diagnostics.AddWarning(one.String(), told)
		}
		return diagnostics
	}
	lines := make([]string, len(all))
	for i, one := range all {
		lines[i] = one.String()
	}
	diagnostics.AddWarning("Disks are wiped", strings.Join(lines, "\n")+"\n\n"+detail)
	return diagnostics
}
