// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
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
		"End of the record of a node's serial console", http.StatusNotFound)
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

// console reads the end of a node's record; also the end of the previous file if the current one is shorter.
func (s *Server) console(address string, bytes int64) (nodetext.Raw, error) {
	if s.ConsoleDirectory == "" {
		return nodetext.Raw{}, &refusal.Error{Kind: refusal.NotFound,
			Message: "no console is recorded here: sledd was started without --console-directory"}
	}
	file := filepath.Join(s.ConsoleDirectory, mac.Hyphens(address)+".log")
	recorded, whole, err := end(file, bytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nodetext.Raw{}, &refusal.Error{Kind: refusal.NotFound,
			Message: fmt.Sprintf("the console of node %s is not recorded: "+
				"there is no file %s (role console makes it, for nodes with IPMI)", address, file)}
	}
	if err != nil {
		return nodetext.Raw{}, fmt.Errorf("console of %s: %w", address, err)
	}
	if missing := bytes - int64(len(recorded)); whole && missing > 0 {
		if earlier, _, err := end(file+".1", missing); err == nil {
			recorded = append(earlier, recorded...)
		}
	}
	return nodetext.RawOf(recorded), nil
}

// end reads the last bytes of a file, without half a line, and reports whether that is the whole file.
func end(name string, bytes int64) ([]byte, bool, error) {
	file, err := os.Open(name) //nolint:gosec // a MAC below our own directory
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller does
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller does
	}
	if info.Size() <= bytes {
		text, err := io.ReadAll(io.LimitReader(file, bytes))
		return text, true, err //nolint:wrapcheck // the caller does
	}
	text, err := io.ReadAll(io.NewSectionReader(file, info.Size()-bytes-1, bytes+1)) // with the byte before
	return nodetext.Tail(text), false,
		err //nolint:wrapcheck // the caller does
}
