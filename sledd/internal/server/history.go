// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) histories() {
	type limited struct {
		NodePath
		Limit int64 `query:"limit" minimum:"1" maximum:"500" default:"500" doc:"Most events in the answer, the newest"`
	}
	register(o, api.Read, operation("list-node-events", http.MethodGet, "/nodes/{node}/events",
		"What happened to a node, oldest first"), func(ctx context.Context, in *limited) (*answer[api.EventList], error) {
		list, err := o.Fleet.Events(ctx, in.Node, in.Limit)
		return &answer[api.EventList]{list}, err
	})
	type event struct {
		NodePath
		Body api.NodeEvent
	}
	register(o, api.Operate, operation("add-node-event", http.MethodPost, "/nodes/{node}/events",
		"Note what was done to a node from outside"), func(ctx context.Context, in *event) (*struct{}, error) {
		return nil, o.Fleet.Note(ctx, in.Node, in.Body)
	})
	type text struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}
	log := operation("get-node-log", http.MethodGet, "/nodes/{node}/log", "Last lines of the step that failed last")
	log.Responses = map[string]*huma.Response{"200": {Description: "Text", Content: map[string]*huma.MediaType{
		"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	register(o, api.Read, log, func(ctx context.Context, in *NodePath) (*text, error) {
		logged, err := o.Fleet.Logged(ctx, in.Node)
		return &text{"text/plain; charset=utf-8", logged.Bytes()}, err
	})
	register(o, api.Read, operation("get-node-timeline", http.MethodGet, "/nodes/{node}/timeline",
		"Stages of a node's newest run"), func(ctx context.Context, in *NodePath) (*answer[api.Timeline], error) {
		line, err := o.Fleet.Timeline(ctx, in.Node)
		return &answer[api.Timeline]{line}, err
	})
	o.stream()
}

type streamInput struct {
	Node  string `query:"node" maxLength:"64" pattern:"^[0-9A-Za-z:-]*$" doc:"MAC or name; empty: all nodes"`
	After int64  `header:"Last-Event-ID" minimum:"0" doc:"Resume after the event with this id; absent: from now on"`
}

// streamText is the description of the operation.
const streamText = "Resumes after `Last-Event-ID` while sledd still holds all events since " +
	"(the newest 50,000 of the fleet). If it does not, " +
	"it answers 410: follow again without `Last-Event-ID`, and once the stream is open, list what you need again. " +
	"The stream ends within 15 seconds after its token was taken away or has expired."

func (o operations) stream() {
	op := operation("stream-events", http.MethodGet, "/events", "Follow what happens, as server-sent events")
	op.Description = streamText
	op.Responses = map[string]*huma.Response{"200": {Description: "data: is an Event in JSON; id: is its id",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	register(o, api.Read, op, func(ctx context.Context, in *streamInput) (*huma.StreamResponse, error) {
		node := ""
		if in.Node != "" {
			var err error
			if node, err = o.Fleet.Resolve(ctx, in.Node); err != nil {
				return nil, err
			}
		}
		listener, missed, err := o.Hub.Listen(ctx, node, in.After)
		if err != nil {
			return nil, err
		}
		//nolint:contextcheck // the request has a context without the deadline of other answers
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			defer o.Hub.Leave(listener)
			request, writer := humago.Unwrap(ctx)
			following, end := context.WithCancel(request.Context())
			defer end()
			defer context.AfterFunc(o.Stopping, end)()
			s := &stream{writer: writer, control: http.NewResponseController(writer), beat: make(chan struct{})}
			go s.watch(following, cmp.Or(o.Heartbeat, heartbeat), func() error {
				_, err := o.Fleet.Authorize(following, bearer(request.Header.Get("Authorization")), api.Read)
				return err //nolint:wrapcheck // is only compared
			}, end)
			s.run(following, missed, listener)
		}}, nil
	})
}
