// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
)

// hallServer answers for all that is shown of the hall.
func hallServer(t *testing.T) string {
	t.Helper()
	nodes, images, r := ctltest.Hall(), ctltest.HallImages(), ctltest.HallRollout()
	models, quirks := ctltest.HallKexec()
	bindings := []api.Binding{*nodes[0].Binding, *nodes[3].Binding, *nodes[4].Binding}
	bindings[1].Disk, bindings[1].Boot = "serial:S64GNE0R900001", "kexec"
	captured := bindings[0]
	captured.Image, captured.Capture = "", "golden-storage-node-2026-11-22"
	t2 := ctltest.Timeline()
	t2.Name = nodes[0].Name
	r2 := r
	r2.Runs, r2.State, r2.Reason = nil, api.RolloutRunning, api.Prose{}
	return double(t, map[string]any{
		"/v1/nodes":                   api.NodeList{Items: nodes},
		"/v1/nodes/n1":                ctltest.HallNode(),
		"/v1/nodes/52:54:00:77:00:01": ctltest.HallNode(),
		"/v1/nodes/n3":                nodes[2],
		"/v1/nodes/n5":                nodes[4],
		"/v1/nodes/n5/rescue": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(nodes[4])
		}),
		"/v1/nodes/n1/disks":    ctltest.HallDisks(),
		"/v1/nodes/n1/timeline": t2,
		"/v1/nodes/n1/events":   api.EventList{Items: ctltest.HallEvents()},
		"/v1/nodes/n3/events":   api.EventList{Items: []api.Event{}},
		"/v1/images":            api.ImageList{Items: images},
		"/v1/images/i":          images[0],
		"/v1/bindings":          api.BindingList{Items: bindings},
		"/v1/bindings/n1":       captured,
		"/v1/operators": api.OperatorList{Items: []api.Operator{{Name: "admin", Role: api.Admin},
			{Name: "continuous-integration-of-hall-b", Role: api.Operate}}},
		"/v1/kexec":              models,
		"/v1/quirks":             quirks,
		"/v1/rollouts":           api.RolloutList{Items: []api.Rollout{r, r2}},
		"/v1/rollouts/" + r.Name: r,
		"/v1/rollouts/x/abort":   r,
	})
}
