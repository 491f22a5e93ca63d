// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// acceptForm shows what identifies a discovered machine, and asks for its declaration. No disk is written by it.
func (w *Web) acceptForm(ask ask, given url.Values) (form, error) {
	shown, node, err := w.nodeForm(ask, "Accept")
	if err != nil {
		return shown, err
	}
	if node.Declared {
		shown.Lead = wording.NodeName(node) + " is declared already."
		return shown, nil
	}
	shown.Commands = []command{{"do the same", "sledctl node accept " + node.MAC + " --name NAME"}}
	shown.Lead = "Compare this with the label of the machine. Accepting declares it, and writes to no disk."
	shown.Facts = append([]fact{{"mac", node.MAC}}, identity(node)...)
	shown.Facts = append(shown.Facts, facts(node.Facts)...)
	shown.Disks = node.Facts.Candidates()
	disk := field{Kind: "text", Name: "disk", Label: "Disk for images", Value: given.Get("disk"),
		Hint: "A selector, such as serial:S123. It can be set later, but before the first image."}
	for _, one := range shown.Disks {
		if one.Serial != "" {
			disk.Options = append(disk.Options, "serial:"+one.Serial)
		}
	}
	if len(disk.Options) == 1 && len(shown.Disks) == 1 && !given.Has("disk") {
		disk.Value = disk.Options[0]
	}
	shown.Fields = []field{
		{Kind: "text", Name: "name", Label: "Name", Value: given.Get("name"), Required: true,
			Pattern: "[a-z0-9]([a-z0-9\\-]{0,61}[a-z0-9])?", Hint: "Its host name: a-z, 0-9 and hyphens"},
		disk,
		{Kind: "lines", Name: "labels", Label: "Labels", Value: given.Get("labels"), Hint: "One KEY=VALUE on each line"}}
	shown.Buttons = []button{{Act: "accept", Text: "Accept"}}
	return shown, nil
}

// identity is what a machine states, and whence it speaks.
func identity(n api.Node) []fact {
	return filled([]fact{{"address", n.Status.Address.String()}, {"architecture", wording.Architecture(n)}})
}

// accept declares a machine that is not declared.
func (w *Web) accept(c *api.Client, ask ask, given url.Values) (string, error) {
	node, err := c.Node(ask.Context(), ask.PathValue("node"))
	if err != nil {
		return "", err
	}
	if node.Declared {
		return "", refuse(http.StatusConflict, "it is declared already, as "+node.Name)
	}
	spec := api.NodeSpec{MAC: node.MAC, Name: strings.TrimSpace(given.Get("name")),
		Disk: strings.TrimSpace(given.Get("disk")), Architecture: node.Status.Architecture, Labels: map[string]string{}}
	for _, line := range linesOf(given.Get("labels")) {
		name, value, found := strings.Cut(line, "=")
		if !found {
			return "", refuse(http.StatusUnprocessableEntity, "label "+line+": expected KEY=VALUE")
		}
		spec.Labels[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	_, err = c.PutNode(ask.Context(), spec, api.IfAbsent())
	return nodePage(node.MAC), err
}

// admissionForm lists the machines that claim to be a node. The code is typed, so that it was read.
func (w *Web) admissionForm(ask ask, _ url.Values) (form, error) {
	shown, node, err := w.nodeForm(ask, "Claims of")
	if err != nil {
		return shown, err
	}
	admission, err := w.Fleet.Admission(ask.Context(), node.MAC)
	if err != nil {
		return shown, err
	}
	name := wording.NodeName(node)
	shown.Lead = "No machine claims to be " + name + " and waits."
	shown.Facts = []fact{{"admitted", wording.Incumbent(admission.Incumbent, ask.Now)}, {"requires", admission.Required}}
	for _, claim := range admission.Claims {
		shown.Facts = append(shown.Facts, fact{"claim", "from " + wording.Dash(claim.Address) + ", NIC " + claim.NIC +
			", serial " + wording.Dash(claim.Serial.String()) + ", since " + wording.Age(ask.Now, claim.Since)})
	}
	if len(admission.Claims) == 0 {
		return shown, nil
	}
	shown.Lead = "Read the code on the screen or the serial console of the machine that is to be " + name +
		", and type it. Whoever is admitted gets its image and its secrets."
	shown.Fields = []field{{Kind: "text", Name: "code", Label: "Code on its console", Required: true, NoHistory: true,
		Hint: "Such as K7QF-2M9D. To refuse a claim, type the code of that claim."}}
	shown.Buttons = []button{{Act: "admit", Text: "Admit"}, {Act: "refuse", Text: "Refuse"}}
	shown.Commands = []command{{"do the same", "sledctl admit " + name + " CODE"}, {"list the claims with codes",
		"sledctl claims " + name}}
	return shown, nil
}

// decide admits or refuses a claim.
func (w *Web) decide(c *api.Client, ask ask, given url.Values) (string, error) {
	node, code := ask.PathValue("node"), strings.TrimSpace(given.Get("code"))
	var decided api.Admission
	var err error
	switch given.Get("act") {
	case "admit":
		decided, err = c.Admit(ask.Context(), node, api.AdmitSpec{CodeSpec: api.CodeSpec{Code: code}})
	case "refuse":
		decided, err = c.Refuse(ask.Context(), node, code)
	default:
		err = refuse(http.StatusBadRequest, "press Admit or Refuse")
	}
	return nodePage(decided.MAC), err
}

// alarmsForm lists the alarms of a node.
func (w *Web) alarmsForm(ask ask, _ url.Values) (form, error) {
	shown, node, err := w.nodeForm(ask, "Alarms of")
	if err != nil {
		return shown, err
	}
	shown.Lead = wording.NodeName(node) + " has no alarm that is not acknowledged."
	if len(node.Alarms) == 0 {
		return shown, nil
	}
	shown.Lead = "Acknowledge them once you know what caused them. An alarm that is raised later stays."
	last := slices.MaxFunc(node.Alarms, func(a, b api.Alarm) int { return a.Last.Compare(b.Last) }).Last
	for _, alarm := range node.Alarms {
		shown.Facts = append(shown.Facts, fact{alarm.Kind, alarmWords(alarm, ask.Now)})
	}
	shown.Fields = []field{{Kind: "hidden", Name: "until", Value: last.Format(timeFormat)}}
	shown.Buttons = []button{{Act: "ack", Text: "Acknowledge"}}
	shown.Commands = []command{{"do the same", "sledctl ack " + wording.NodeName(node)}}
	return shown, nil
}
