// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// A rollout that nobody follows is shown with the command of its newest request, as a shell reads it.
func TestTheCommandThatResumes(t *testing.T) {
	var ahead time.Duration
	b := open(t, 1, sleddtest.Options{Store: &storetest.Memory{}, Now: func() time.Time { return time.Now().Add(ahead) }})
	b.DeclareMany(2)
	spec := api.RolloutSpec{Nodes: []string{"n1"}, Desired: "image d"}
	for _, one := range []struct {
		command []string
		want    string
	}{
		{nil, "ansible-playbook sled.fleet.reimage"},
		{[]string{"ansible-playbook", "reimage.yml", "--limit", "rack_r1:&hall", "-e", `{"a": "it's"}`},
			`ansible-playbook reimage.yml --limit 'rack_r1:&hall' -e '{"a": "it'\''s"}'`},
		{[]string{"ansible-playbook", "x\nreboot"}, "ansible-playbook 'x"},
	} {
		spec.Command = one.command
		if _, err := b.Client().StartRollout(b.Context(), "reimage", spec); err != nil {
			t.Fatal(err)
		}
		ahead += 2 * time.Minute
		for _, address := range []string{"/ui/", "/ui/rollouts/reimage-1"} {
			if body := html.UnescapeString(b.ask("GET", address, nil).Body); !strings.Contains(body, "<code>"+one.want) ||
				strings.Contains(body, "\nreboot") {
				t.Errorf("%s: want %s: %s", address, one.want, body)
			}
		}
	}
}
