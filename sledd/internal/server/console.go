// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// consoles serves what others record: sledd only reads the files of its --console-directory.
func (o operations) consoles() {
	type tail struct {
		NodePath
		Bytes int64 `query:"bytes" minimum:"1" maximum:"1048576" default:"65536" doc:"How much of the end"`
	}
	type text struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}
	op := operation("get-node-console", http.MethodGet, "/nodes/{node}/console",
		"End of the record of a node's serial console")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Text of whole lines, each with the time before it; without control sequences, and tokens replaced",
		Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	register(o, api.Read, op, func(ctx context.Context, in *tail) (*text, error) {
		node, err := o.Fleet.Node(ctx, in.Node)
		if err != nil {
			return nil, err
		}
		recorded, err := o.console(node.MAC, in.Bytes)
		return &text{"text/plain; charset=utf-8", recorded.Bytes()}, err
	})
}

// console reads the end of a node's record.
func (s *Server) console(address string, bytes int64) (nodetext.Raw, error) {
	if s.Consoles == "" {
		return nodetext.Raw{}, &refusal.Error{Kind: refusal.NotFound,
			Message: "no console is recorded here: sledd was started without --console-directory"}
	}
	recorded, err := s.Consoles.Tail(address, bytes)
	if console.Missing(err) {
		return nodetext.Raw{}, &refusal.Error{Kind: refusal.NotFound,
			Message: fmt.Sprintf("the console of node %s is not recorded: "+
				"there is no file %s (role console makes it, for nodes with IPMI)", address, s.Consoles.File(address))}
	}
	if err != nil {
		return nodetext.Raw{}, fmt.Errorf("console of %s: %w", address, err)
	}
	return nodetext.RawOf(recorded), nil
}
