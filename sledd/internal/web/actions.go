// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Action is a change that an operator requests by a form. GET shows the form and changes nothing; POST carries it out,
// through the operator API.
type Action struct {
	Path string
	// Takes are the fields that a link may fill in, and that a login within the form keeps.
	Takes []string
	form  func(w *Web, ask ask, given url.Values) (form, error)
	// do returns the page that follows; empty: the form once more, with what it has learned.
	do func(w *Web, c *api.Client, ask ask, given url.Values) (next string, err error)
}

// Actions returns all actions. A new one is covered by the tests of all.
func Actions() []Action {
	return []Action{
		{"/ui/nodes/{node}/accept", []string{"name", "disk", "labels"}, (*Web).acceptForm, (*Web).accept},
		{"/ui/nodes/{node}/admission", nil, (*Web).admissionForm, (*Web).decide},
		{"/ui/nodes/{node}/alarms", nil, (*Web).alarmsForm, (*Web).acknowledge},
		{"/ui/nodes/{node}/rescue", []string{"keys"}, (*Web).rescueForm, (*Web).rescue},
		{"/ui/nodes/{node}/install", []string{"image", "keys"}, (*Web).installForm, (*Web).install},
		{"/ui/rollouts/{rollout}/abort", nil, (*Web).abortForm, (*Web).abort},
	}
}

// form asks an operator for a change.
type form struct {
	Title    string
	Lead     string
	Facts    []fact // what the operator decides by
	Disks    []api.Disk
	Fields   []field
	Buttons  []button // none: there is nothing to do
	Commands []command
	Back     string // page of the object

	Path  string // of the action
	Fault string
	Last  string // last change of the node by an operator, who may have been first
	MAC   string // of the node
}

// field of a form.
type field struct {
	Kind                string // text, lines, select, shown or hidden
	Name, Label, Value  string
	Hint, Pattern       string
	Options             []string
	Required, NoHistory bool
}

// button sends a form.
type button struct {
	Act, Text string
	Wipes     bool
}

// act shows a form, or carries it out.
func (w *Web) act(action Action, out http.ResponseWriter, r *http.Request) {
	operator, err := w.loggedIn(r.Context(), r)
	given := r.URL.Query()
	if r.Method == http.MethodPost {
		if failed := r.ParseForm(); failed != nil {
			w.fail(out, r, operator, refusal.New(refusal.Invalid, "the form cannot be read: %v", failed))
			return
		}
		given = r.PostForm
	}
	if refusal.Is(err, refusal.Unauthorized) {
		w.loginPage(out, r, http.StatusUnauthorized, formAddress(r.URL.Path, given, action.Takes), "")
		return
	}
	if err == nil {
		if err = fleet.Permit(operator, api.Operate); err != nil && r.Method == http.MethodPost {
			w.Audit.Refused(api.AuditRecord{Operator: operator.Name, Role: operator.Role, From: origin.Of(r.Context()).From(),
				Via: "web", Method: r.Method, Path: r.URL.Path, Node: r.PathValue("node"), Status: http.StatusForbidden})
		}
	}
	if err == nil && r.Method != http.MethodPost {
		err = takes(given, action.Takes)
	}
	if err != nil {
		w.fail(out, r, operator, err)
		return
	}
	asked := ask{Request: r, Query: r.URL.Query(), Now: w.Fleet.Now(), Operator: operator}
	w.answerForm(action, out, asked, given) //nolint:contextcheck // asked has that of the request
}

// formAddress is that of a form with those values that a link may fill in.
func formAddress(path string, given url.Values, known []string) string {
	kept := url.Values{}
	for _, name := range known {
		if given.Get(name) != "" {
			kept.Set(name, given.Get(name))
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + kept.Encode()
}

// answerForm carries out what a POST requests. A refusal is shown above the form, which has its values still.
func (w *Web) answerForm(action Action, out http.ResponseWriter, ask ask, given url.Values) {
	status, refused := http.StatusOK, (*api.Error)(nil)
	if ask.Method == http.MethodPost {
		next, err := w.carryOut(action, ask, given)
		if err == nil && next != "" {
			http.Redirect(out, ask.Request, next, http.StatusSeeOther) //nolint:gosec // a page of the dashboard
			return
		}
		if errors.As(err, &refused); err != nil && (refused == nil || refused.Status >= http.StatusInternalServerError) {
			w.fail(out, ask.Request, ask.Operator, err)
			return
		}
	}
	shown, err := action.form(w, ask, given)
	if err == nil && refused != nil {
		status, shown.Fault = refused.Status, faultText(refused)
		shown.Last, err = w.lastChange(ask.Context(), shown.MAC)
	}
	if err != nil {
		w.fail(out, ask.Request, ask.Operator, err)
		return
	}
	shown.Path = ask.URL.Path
	w.write(out, status, page{Title: shown.Title, View: "form", Nav: "nodes", Operator: ask.Operator, Body: shown})
}

func (w *Web) carryOut(action Action, ask ask, given url.Values) (string, error) {
	client, err := w.Client(ask.Operator)
	if err != nil {
		return "", err
	}
	return action.do(w, client, ask, given)
}

// refuse makes a refusal of the dashboard itself look like one of the API.
func refuse(status int, text string) error { return &api.Error{Status: status, Detail: text} }

// faultText is a refusal as sentences for people.
func faultText(err error) string {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return err.Error()
	}
	words := []string{}
	for _, fault := range refused.Errors {
		text := strings.TrimPrefix(strings.TrimPrefix(fault.Location, "body."), "path.")
		words = append(words, strings.TrimPrefix(text+": "+fault.Message, ": "))
	}
	text := refused.Detail
	if len(words) > 0 && (len(words) > 1 || !strings.HasSuffix(words[0], refused.Detail)) {
		text = cmp.Or(strings.TrimSuffix(text+": "+strings.Join(words, "; "), ": "), text)
	}
	return "Nothing was changed: " + text + "."
}

// lastChange describes what an operator did to a node last; empty: nothing that is known.
func (w *Web) lastChange(ctx context.Context, node string) (string, error) {
	if node == "" {
		return "", nil
	}
	list, err := w.Fleet.Events(ctx, node, nodeEvents)
	if err != nil {
		return "", err
	}
	for _, event := range slices.Backward(list.Items) {
		if event.Actor != "" {
			return clock(event.Time) + ": " + wording.EventKind(event) + ", " + eventWords(event), nil
		}
	}
	return "", nil
}

// linesOf returns the lines of a field without spaces at their ends, and without empty ones.
func linesOf(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// nodePage is the address of the page of a node.
func nodePage(mac string) string { return "/ui/nodes/" + mac }

// nodeForm starts a form about a node.
func (w *Web) nodeForm(ask ask, title string) (form, api.Node, error) {
	node, err := w.Fleet.Node(ask.Context(), ask.PathValue("node"))
	return form{Title: title + " " + wording.NodeName(node), Back: nodePage(node.MAC), MAC: node.MAC}, node, err
}
