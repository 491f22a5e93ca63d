// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// timeFormat is that of times in hidden fields.
const timeFormat = time.RFC3339Nano

const acknowledged = "the alarms that were shown are acknowledged already"

// acknowledge ends the alarms that the form has shown.
func (w *Web) acknowledge(c *api.Client, ask ask, given url.Values) (string, error) {
	until, err := time.Parse(timeFormat, given.Get("until"))
	if err != nil {
		return "", refuse(http.StatusBadRequest, "the form has no time: open it again")
	}
	before, err := c.Admission(ask.Context(), ask.PathValue("node"))
	if err != nil {
		return "", err
	}
	left := 0
	for _, alarm := range before.Alarms {
		if !alarm.Last.After(until) {
			left++
		}
	}
	if left == 0 {
		return "", refuse(http.StatusConflict, acknowledged)
	}
	if _, err = c.Ack(ask.Context(), before.MAC, until); err != nil {
		return "", err
	}
	return nodePage(before.MAC), w.acknowledgedBy(ask, before.MAC)
}

// acknowledgedBy refuses an operator who was not the first to acknowledge the alarms that were shown: to the API, it is
// the same whose request ended them.
func (w *Web) acknowledgedBy(ask ask, node string) error {
	list, err := w.Fleet.Events(ask.Context(), node, nodeEvents)
	for _, event := range slices.Backward(list.Items) {
		if event.Kind == "ack" {
			if event.Actor != ask.Operator.Name {
				return refuse(http.StatusConflict, acknowledged)
			}
			break
		}
	}
	return err
}

// rescueForm starts or ends a rescue.
func (w *Web) rescueForm(ask ask, given url.Values) (form, error) {
	shown, node, err := w.nodeForm(ask, "Rescue of")
	if err != nil {
		return shown, err
	}
	name := wording.NodeName(node)
	if node.Rescue != nil {
		shown.Lead = "Ending the rescue has a node that waited wait again. One with an installed system reboots into it."
		shown.Facts = []fact{{"state", node.Rescue.State()}, {"started", wording.Age(ask.Now, node.Rescue.Started) + " ago"}}
		shown.Fields = []field{{Kind: "hidden", Name: "started", Value: node.Rescue.Started.Format(timeFormat)}}
		shown.Buttons = []button{{Act: "end", Text: "End the rescue"}}
		shown.Commands = []command{{"do the same", "sledctl rescue " + name + " --end"}}
		return shown, nil
	}
	shown.Lead = "The node runs the Sled system with an SSH server: at once if it waits there, else from its next boot " +
		"on. No disk is touched."
	shown.Fields = []field{keysField(given.Get("keys"), true)}
	shown.Buttons = []button{{Act: "start", Text: "Start the rescue"}}
	shown.Commands = []command{{"do the same", "sledctl rescue " + name + " --key FILE"},
		{"reboot it into its rescue as well", "ansible-playbook sled.fleet.rescue --limit " + name}}
	return shown, nil
}

func keysField(value string, required bool) field {
	return field{Kind: "lines", Name: "keys", Label: "SSH public keys", Value: value, Required: required,
		Hint: "The content of .pub files, for root"}
}

// rescue starts or ends a rescue. A rescue that another operator started is not changed.
func (w *Web) rescue(c *api.Client, ask ask, given url.Values) (string, error) {
	node, err := c.Node(ask.Context(), ask.PathValue("node"))
	if err != nil {
		return "", err
	}
	next := nodePage(node.MAC)
	switch given.Get("act") {
	case "start":
		keys, err := api.ReadKeys(given.Get("keys"))
		if err != nil {
			return "", refuse(http.StatusUnprocessableEntity, "keys: "+err.Error())
		}
		_, err = c.PutRescue(ask.Context(), node.MAC, api.RescueSpec{AuthorizedKeys: keys}, api.IfAbsent())
		return next, err
	case "end":
		if node.Rescue == nil || node.Rescue.Started.Format(timeFormat) != given.Get("started") {
			return "", refuse(http.StatusConflict, "the rescue that was shown has ended already")
		}
		return next, c.DeleteRescue(ask.Context(), node.MAC)
	}
	return "", refuse(http.StatusBadRequest, "press a button of the form")
}

// abortForm ends a rollout.
func (w *Web) abortForm(ask ask, _ url.Values) (form, error) {
	one, err := w.Rollouts.Get(ask.Context(), ask.PathValue("rollout"))
	shown := form{Title: "Abort " + one.Name, Back: "/ui/rollouts/" + one.Name}
	if err != nil {
		return shown, err
	}
	if !unfinished(one) {
		shown.Lead = "The rollout is " + string(one.State) + ": there is nothing to abort."
		shown.Facts = filled([]fact{{"reason", one.Reason.String()}})
		return shown, nil
	}
	shown.Lead = "No further node is started. Nodes that run are not interrupted."
	shown.Facts = []fact{{"desired", one.Desired}, {"owner", one.Owner}, {"running", wording.Nodes(one.Counts.Running)},
		{"waiting", wording.Nodes(one.Counts.Waiting)}}
	shown.Buttons = []button{{Act: "abort", Text: "Abort"}}
	shown.Commands = []command{{"do the same", "sledctl rollout abort " + one.Name}}
	return shown, nil
}

func unfinished(r api.Rollout) bool {
	return r.State == api.RolloutRunning || r.State == api.RolloutStopped
}

// abort ends a rollout that has not ended.
func (w *Web) abort(c *api.Client, ask ask, _ url.Values) (string, error) {
	before, err := c.Rollout(ask.Context(), ask.PathValue("rollout"))
	if err != nil {
		return "", err
	}
	if !unfinished(before) {
		return "", ended(before)
	}
	one, err := c.AbortRollout(ask.Context(), before.Name)
	if by := (origin.Origin{Actor: ask.Operator.Name, Via: "web"}).By(); err == nil &&
		!strings.HasPrefix(one.Reason.String(), "aborted by "+by) {
		err = ended(one) // by another one, meanwhile
	}
	return "/ui/rollouts/" + one.Name, err
}

// ended refuses to abort a rollout that has ended.
func ended(r api.Rollout) error {
	text := "the rollout is " + string(r.State) + " already"
	return refuse(http.StatusConflict, strings.TrimSuffix(text+": "+r.Reason.String(), ": "))
}
