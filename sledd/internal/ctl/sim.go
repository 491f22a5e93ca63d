// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	machines "github.com/sled-fleet/sled/sledd/internal/double"
)

const (
	mostSimulated = 10_000
	simNode       = "sim-%05d"
	simMAC        = "02:53:4c:%02x:%02x:%02x"
)

// sim is one run of `sledctl sim`.
type sim struct {
	*app
	nodes         int
	image, file   string
	servers, boot string
	loss, seconds float64
	seed          uint64
	jobs          bool
	payload       machines.Payload
}

func (a *app) simCommand() *cobra.Command {
	s := &sim{app: a}
	command := &cobra.Command{
		Use: "sim --image IMAGE", Short: "Image nodes without hardware, to measure a boot server",
		Long: `Declares the nodes sim-00001 and so on, binds them to an image, and runs a
machine without hardware for each: it boots, claims, polls, reports and confirms
as a node does, and reads no image. Ends when all nodes are operational, and
prints how long that took.

The sledd must be at admission level open, with nothing else in its store: this
is not for a site at work. --loss has a part of the responses not arrive, which
of them follows from --seed. --history writes all requests and the events of
each node to a file for sledctl check-history.

With --jobs, the nodes are not bound: each gets a job of the image, by a label,
whose payload prints --output bytes. Ends when all jobs have ended, and prints
how long it took until the last payload was started, how long a list of the jobs
takes, and by how much the store has grown.`,
		Example: "  sledctl sim --image d12 --nodes 1000 --loss 0.01 --history sim.jsonl\n" +
			"  sledctl sim --image hpl --nodes 300 --jobs",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.image == "" || s.nodes < 1 || s.nodes > mostSimulated || s.loss < 0 || s.loss > 0.5 {
				return &usageError{err: fmt.Errorf("sim: --image is required, --nodes is 1 to %d, --loss 0 to 0.5", mostSimulated)}
			}
			if s.jobs {
				return s.runJobs(cmd.Context())
			}
			return s.run(cmd.Context())
		},
	}
	flags := command.Flags()
	flags.IntVar(&s.nodes, "nodes", 100, "number of nodes")
	flags.StringVar(&s.image, "image", "", "image to bind them to")
	flags.Float64Var(&s.loss, "loss", 0, "part of the responses that are lost")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of the losses")
	flags.Float64Var(&s.seconds, "step-seconds", 0, "seconds that each step takes")
	flags.StringVar(&s.servers, "servers", "", "URLs of sledd that the nodes call, joined by commas (default --server)")
	flags.StringVar(&s.boot, "boot-scripts", "", "URLs of their boot scripts, in the same order (default --servers)")
	flags.StringVar(&s.file, "history", "", "file for the history")
	flags.BoolVar(&s.jobs, "jobs", false, "give each node a job of the image instead of binding it")
	flags.IntVar(&s.payload.Output, "output", 0, "bytes that each payload prints")
	flags.Float64Var(&s.payload.Seconds, "payload-seconds", 20, "seconds that each payload runs")
	flags.StringVar(&s.payload.Folder, "upload-directory", "",
		"that of sledd, to store output in it once sledd permits; default: put it to the URL of the plan")
	return command
}

func (s *sim) run(ctx context.Context) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	macs, err := s.declare(ctx, client)
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "sledctl-sim")
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	var history io.WriteCloser = discard{io.Discard}
	if s.file != "" {
		if history, err = os.Create(s.file); err != nil {
			return fmt.Errorf("--history: %w", err)
		}
	}
	defer history.Close()
	written := bufio.NewWriter(history)
	target, err := s.target()
	if err != nil {
		return err
	}
	settings := machines.Settings{Server: cmp.Or(s.servers, target.Server), Boot: s.boot, CA: target.CAFile,
		StepSeconds: s.seconds}
	fleet := &machines.Fleet{Dir: directory, Loss: s.loss, Seed: s.seed, History: written, Settings: settings}
	begin := time.Now()
	if err := fleet.Run(ctx, macs); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	took := time.Since(begin)
	if s.file != "" {
		if err := ask(ctx, client, macs, written); err != nil {
			return err
		}
	}
	if err := errors.Join(written.Flush(), history.Close()); err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	result := simulated{Nodes: s.nodes, Seconds: took.Seconds()}
	return s.show(result, func() {
		s.Section("simulation", [][2]string{{"nodes", strconv.Itoa(result.Nodes)},
			{"seconds", fmt.Sprintf("%.1f", result.Seconds)}})
	})
}

// simulated is the result of a simulation.
type simulated struct {
	Nodes   int     `json:"nodes"`
	Seconds float64 `json:"seconds"` // from power on until the last node is operational
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// declare declares and binds the nodes, and returns their MACs.
func (s *sim) declare(ctx context.Context, client *api.Client) ([]string, error) {
	macs, bindings := make([]string, s.nodes), api.BulkBindings{Items: make([]api.BulkBinding, s.nodes)}
	for i := range macs {
		macs[i] = fmt.Sprintf(simMAC, i>>16, i>>8&0xff, i&0xff)
		name := fmt.Sprintf(simNode, i+1)
		if _, err := client.PutNode(ctx, api.NodeSpec{MAC: macs[i], Name: name, Disk: "only"}); err != nil {
			return nil, err //nolint:wrapcheck // names the node
		}
		bindings.Items[i].BindingSpec = api.BindingSpec{Node: name, Image: s.image}
	}
	_, err := client.Bind(ctx, bindings)
	return macs, err //nolint:wrapcheck // clear enough
}

// ask adds to a history what sledd knows of each node.
func ask(ctx context.Context, client *api.Client, macs []string, history io.Writer) error {
	encoder := json.NewEncoder(history)
	for _, mac := range macs {
		node, err := client.Node(ctx, mac)
		if err != nil {
			return err //nolint:wrapcheck // names the node
		}
		events, err := client.Events(ctx, mac, 200)
		if err != nil {
			return err //nolint:wrapcheck // names the node
		}
		text, err := json.Marshal(events)
		if err == nil {
			err = encoder.Encode(machines.Call{Node: mac, Phase: string(node.Status.Phase), Events: text})
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return nil
}

func (a *app) checkHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check-history FILE", Short: "Check the history of a simulation",
		Long: `Reads the file of sledctl sim --history and prints its faults: a report that was
acknowledged and is not stored, or is stored twice; two plans of one generation
that a boot has started, although no step failed; a node not operational.`,
		Example: "  sledctl check-history sim.jsonl", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("history: %w", err)
			}
			defer file.Close()
			faults, nodes, err := machines.Check(file)
			if err != nil {
				return err //nolint:wrapcheck // names the line
			}
			for _, fault := range faults {
				_, _ = fmt.Fprintln(a.Out, fault)
			}
			if len(faults) > 0 {
				return fmt.Errorf("%s: %d faults of %d nodes", args[0], len(faults), nodes)
			}
			_, _ = fmt.Fprintf(a.Out, "%d nodes, no fault\n", nodes)
			return nil
		},
	}
}
