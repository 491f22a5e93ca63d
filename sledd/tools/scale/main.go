// SPDX-License-Identifier: Apache-2.0

// Command scale measures a sledd with as many nodes as a large site has, which are machines without hardware in this
// process. It is run by make bench-scale.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one figure.
type Row struct {
	Case   string  `json:"case"`
	Figure string  `json:"figure"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	Limit  string  `json:"limit,omitempty"` // of docs/sizing.md; empty: none
	Load   string  `json:"load"`            // load average at that moment
}

// bench is one run of all cases.
type bench struct {
	sledd string // program
	nodes int
	rows  []Row
	now   string // case
}

var cases = []struct {
	name string
	run  func(b *bench, ctx context.Context) error
}{{"hello", (*bench).hello}, {"boot", (*bench).boot}, {"progress", (*bench).progress}, {"installs", (*bench).installs}}

func main() {
	if len(os.Args) != 3 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: scale SLEDD OUT.json, with NODES=10000 and CASES=hello,boot,progress,installs")
		os.Exit(2)
	}
	if err := measure(context.Background(), os.Args[1], os.Args[2]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, sledd, out string) error {
	b := &bench{sledd: sledd, nodes: 10_000}
	if text := os.Getenv("NODES"); text != "" {
		var err error
		if b.nodes, err = strconv.Atoi(text); err != nil || b.nodes < 1 || b.nodes > 10_000 {
			return fmt.Errorf("NODES=%s: want 1 to 10000", text)
		}
	}
	chosen := strings.FieldsFunc(os.Getenv("CASES"), func(r rune) bool { return r == ',' || r == ' ' })
	var failed []error
	for _, c := range cases {
		if len(chosen) > 0 && !slices.Contains(chosen, c.name) {
			continue
		}
		b.now = c.name
		if err := c.run(b, ctx); err != nil { // the figures of the others hold
			failed = append(failed, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(append(failed, b.save(ctx, out))...)
}

// note adds a figure and prints it.
func (b *bench) note(figure string, value float64, unit, limit string) {
	row := Row{b.now, figure, value, unit, limit, load()}
	b.rows = append(b.rows, row)
	_, _ = fmt.Fprintf(os.Stdout, "%s: %s: %.4g %s\n", row.Case, figure, value, unit)
}

func load() string { return strings.Fields(read("/proc/loadavg"))[0] }

func read(file string) string {
	text, err := os.ReadFile(file) //nolint:gosec // of /proc
	if err != nil {
		panic(err)
	}
	return string(text)
}

// save writes the file, and prints the table.
func (b *bench) save(ctx context.Context, out string) error {
	kernel, err := exec.CommandContext(ctx, "uname", "-sr").Output()
	if err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	found := map[string]any{"nodes": b.nodes, "cores": runtime.NumCPU(), "kernel": strings.TrimSpace(string(kernel)),
		"time": time.Now().UTC().Truncate(time.Second), "figures": b.rows}
	text, err := json.MarshalIndent(found, "", " ")
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	_, _ = fmt.Fprintf(os.Stdout, "\n%d nodes, %d cores, %s\n", b.nodes, runtime.NumCPU(), found["kernel"])
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "figure\tvalue\tlimit\tload")
	for i, row := range b.rows {
		if i == 0 || row.Case != b.rows[i-1].Case {
			_, _ = fmt.Fprintf(table, "%s\t\t\t\n", row.Case)
		}
		_, _ = fmt.Fprintf(table, "  %s\t%.4g %s\t%s\t%s\n", row.Figure, row.Value, row.Unit, row.Limit, row.Load)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return os.WriteFile(out, append(text, '\n'), 0o644) //nolint:wrapcheck,gosec // names the file, for all to read
}
