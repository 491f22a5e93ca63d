// SPDX-License-Identifier: Apache-2.0

package web

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// imageRow is an image, and the number of nodes that have it.
type imageRow struct {
	api.Image
	Nodes, Failed int
}

func (w *Web) images(ask ask) (page, error) {
	list, err := w.Fleet.Images(ask.Context())
	if err != nil {
		return page{}, err
	}
	sum, err := w.Fleet.Summary(ask.Context(), api.ByImage, fleet.Filter{})
	on := map[string]api.SummaryGroup{}
	for _, group := range sum.Groups {
		on[group.Value] = group
	}
	var rows []imageRow
	for _, image := range list.Items {
		rows = append(rows, imageRow{image, on[image.Name].Nodes, on[image.Name].Phases[string(api.Failed)]})
	}
	return page{Title: "Images", View: "images", Nav: "images", Body: rows}, err
}

// eventsView is the newest events of the fleet.
type eventsView struct {
	Events   []api.Event
	Kinds    []string
	Kind, By string
}

// eventRows of a page.
const eventRows = 200

// eventKinds are those that the API describes.
var eventKinds = func() []string {
	field, _ := reflect.TypeFor[api.Event]().FieldByName("Kind")
	return slices.Sorted(strings.SplitSeq(field.Tag.Get("enum"), ","))
}()

func (w *Web) events(ask ask) (page, error) {
	view := eventsView{Kind: ask.Query.Get("kind"), By: ask.Query.Get("by"), Kinds: eventKinds}
	filter := api.EventFilter{By: view.By, Limit: eventRows}
	if view.Kind != "" {
		if !slices.Contains(eventKinds, view.Kind) {
			return page{}, refusal.New(refusal.Invalid, "events of kind %q do not exist; there are: %s", view.Kind,
				wording.List(eventKinds))
		}
		filter.Kinds = []string{view.Kind}
	}
	list, err := w.newest(ask.Context(), filter)
	view.Events = list
	return page{Title: "Events", View: "events", Nav: "events", Refresh: refreshTime, Body: view}, err
}
