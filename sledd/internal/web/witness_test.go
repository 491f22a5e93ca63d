// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/web"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// deeds are what an operator can do by each action. Each returns the form that it sends, of a machine that waits.
var deeds = map[string]map[string]func(b *browser, machine *sleddtest.Machine) url.Values{
	"/ui/nodes/{node}/accept": {"declare": func(*browser, *sleddtest.Machine) url.Values {
		return url.Values{"act": {"accept"}, "name": {"n7"}}
	}},
	"/ui/nodes/{node}/admission": {
		"admit": func(b *browser, _ *sleddtest.Machine) url.Values {
			return url.Values{"act": {"admit"}, "code": {b.rival()}}
		},
		"refuse": func(b *browser, _ *sleddtest.Machine) url.Values {
			return url.Values{"act": {"refuse"}, "code": {b.rival()}}
		}},
	"/ui/nodes/{node}/alarms": {"ack": func(b *browser, machine *sleddtest.Machine) url.Values {
		b.rival()
		machine.Poll(0)
		return with(b.filled(form("alarms")), "act", "ack")
	}},
	"/ui/nodes/{node}/rescue": {
		"rescue": func(b *browser, _ *sleddtest.Machine) url.Values {
			b.Declare(waiting)
			return url.Values{"act": {"start"}, "keys": {sshkeys.Alice}}
		},
		"rescue ended": func(b *browser, _ *sleddtest.Machine) url.Values {
			b.Declare(waiting)
			spec := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Bob}}
			if _, err := b.Client().PutRescue(b.Context(), "n7", spec); err != nil {
				b.Fatal(err)
			}
			return with(b.filled(form("rescue")), "act", "end")
		}},
	"/ui/nodes/{node}/install": {"bind": func(b *browser, machine *sleddtest.Machine) url.Values {
		return b.shown(machine)
	}},
	"/ui/rollouts/{rollout}/abort": {
		"abort reimage-1, in which it is waiting": func(b *browser, _ *sleddtest.Machine) url.Values {
			b.Declare(waiting)
			b.started()
			return url.Values{"act": {"abort"}}
		}},
}

// rival is the code of another machine that claims to be the node, and asks whether it is.
func (b *browser) rival() string {
	b.Helper()
	code, token := b.Claim(waiting, "boot-2")
	b.rivalToken = token
	return code
}

// Each action of the router names its operator and the page, in the event of what it did and in the audit record. An
// admission has its event when the machine asks next.
func TestEveryActionNamesItsOperator(t *testing.T) {
	for _, action := range web.Actions() {
		if len(deeds[action.Path]) == 0 {
			t.Errorf("%s is not tested", action.Path)
		}
		for kind, prepare := range deeds[action.Path] {
			t.Run(action.Path+" "+kind, func(t *testing.T) {
				b, machine := bench(t)
				values := prepare(b, machine)
				address := strings.NewReplacer("{node}", sleddtest.MAC(waiting), "{rollout}", "reimage-1").Replace(action.Path)
				b.goes(address, values)
				if b.rivalToken != "" {
					b.Polls(waiting, b.rivalToken)
				}
				b.witnessed(kind, address)
			})
		}
	}
}

// witnessed fails the test unless an event of a kind and the only audit record name friday and the page.
func (b *browser) witnessed(kind, address string) {
	b.Helper()
	records, err := b.Client().Audit(b.Context(), api.AuditFilter{Operator: "friday"})
	if err != nil || len(records) != 1 {
		b.Fatalf("audit: %+v %v", records, err)
	}
	if got := records[0]; got.Via != "web" || got.From != "127.0.0.1" || got.Role != api.Operate || got.Status >= 300 {
		b.Errorf("audit: %+v", got)
	}
	events, err := b.Client().Events(b.Context(), sleddtest.MAC(waiting), 0)
	if err != nil {
		b.Fatal(err)
	}
	kind, detail, _ := strings.Cut(kind, " ")
	for _, event := range events {
		if event.Kind == kind && event.Actor == "friday" && event.Via == "web" &&
			strings.Contains(event.Detail.String(), detail) {
			return
		}
	}
	b.Errorf("%s: no event %s by friday via web: %+v", address, kind, events)
}
