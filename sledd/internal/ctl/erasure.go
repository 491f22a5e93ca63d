// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/page"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// forgedError is a chain of records that does not hold.
type forgedError struct{ err error }

func (e *forgedError) Error() string { return e.err.Error() }

func (e *forgedError) Unwrap() error { return e.err }

func (a *app) erasureCommand() *cobra.Command {
	command := group("erasure", "Show and verify the records of erased disks",
		a.erasureListCommand(), a.erasureShowCommand(), a.erasureExportCommand(), a.erasureVerifyCommand(),
		a.erasureKeyCommand())
	command.Long = `Each disk that a wipe names gets a record: which disk, how it was emptied, and
what was read back. Records form a chain that sledd signs. They are kept when
the node is deleted. A signature proves what a machine reported that sledd had
admitted as the node; it does not prove what the drive did.`
	command.Example = `  sledctl erasure list n1
  sledctl erasure show 12 --page n1-disk0.html
  sledctl erasure export > records && sledctl erasure key > key.pem
  sledctl erasure verify records --key key.pem`
	return command
}

func (a *app) erasures(ctx context.Context) (api.ErasureList, error) {
	client, err := a.client()
	if err != nil {
		return api.ErasureList{}, err
	}
	return client.Erasures(ctx)
}

func (a *app) erasureListCommand() *cobra.Command {
	var serial, result string
	command := &cobra.Command{
		Use: "list [NODE...]", Short: "List the records, oldest first",
		Long: `Lists the records of all nodes, also of deleted ones, or of some by name or MAC.
Columns: the number in the chain; level is what was requested, method what was
done. A result left means that the disk was left out, and not touched.`,
		Example:           "  sledctl erasure list\n  sledctl erasure list n1 --result failed",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, nodes []string) error {
			list, err := a.erasures(cmd.Context())
			if err != nil {
				return err
			}
			found := []api.Erasure{}
			for _, record := range list.Items {
				if (serial == "" || record.Serial.String() == serial) && (result == "" || record.Result == result) &&
					isOf(record, nodes) {
					found = append(found, record)
				}
			}
			return a.show(found, func() { show.Table(a.Out, a.Screen, show.ErasureColumns, found) })
		},
	}
	command.Flags().StringVar(&serial, "serial", "", "only the disk with this serial number")
	command.Flags().StringVar(&result, "result", "", "only records with this result: good, failed or left")
	return command
}

// isOf reports whether a record is of one of the nodes, by name or MAC; of any if there are none.
func isOf(record api.Erasure, nodes []string) bool {
	for _, node := range nodes {
		if record.Node == node || strings.EqualFold(record.MAC, node) {
			return true
		}
	}
	return len(nodes) == 0
}

func (a *app) erasureShowCommand() *cobra.Command {
	var file string
	command := &cobra.Command{
		Use: "show NUMBER", Short: "Show a record, or write it as a page to print", Args: cobra.ExactArgs(1),
		Long: `Shows one record. With --page it is written as one HTML file without references
to other files, which prints on A4.`,
		Example:           "  sledctl erasure show 12\n  sledctl erasure show 12 --page record-12.html",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || number < 1 {
				return usagef("NUMBER %q: want the number of a record, as in sledctl erasure list", args[0])
			}
			record, err := a.erasureRecord(cmd.Context(), number)
			if err != nil {
				return err
			}
			if file != "" {
				return writePage(file, record)
			}
			return a.show(record, func() { a.Section(fmt.Sprintf("record %d", number), erasureRows(record)) })
		},
	}
	command.Flags().StringVar(&file, "page", "", "write an HTML page to this file")
	return command
}

func (a *app) erasureRecord(ctx context.Context, number int64) (api.Erasure, error) {
	client, err := a.client()
	if err != nil {
		return api.Erasure{}, err
	}
	list, err := client.ErasuresAfter(ctx, number-1)
	if err == nil && len(list.Items) == 0 {
		err = fmt.Errorf("record %d does not exist: there are %d", number, list.Head.Number)
	}
	if err != nil {
		return api.Erasure{}, err
	}
	return list.Items[0], nil
}

func writePage(path string, record api.Erasure) error {
	var text bytes.Buffer
	if err := page.Erasure(&text, record); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	return nil
}

func erasureRows(record api.Erasure) [][2]string {
	rows := [][2]string{}
	for _, row := range slices.Concat(wording.ErasedDisk(record), wording.ErasureCourse(record)) {
		rows = append(rows, [2]string{strings.ToLower(row.Name), row.Value})
	}
	return rows
}

func (a *app) erasureExportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Print all records as the file that verify reads", Args: cobra.NoArgs,
		Long: `Prints the whole chain: a record in each line, byte for byte as it was signed,
and the end of the chain in the last line.`,
		Example: "  sledctl erasure export > records", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.erasures(cmd.Context())
			if err != nil {
				return err
			}
			text, err := erasure.Export(list)
			if err == nil {
				_, err = a.Out.Write(text)
			}
			return err
		},
	}
}

func (a *app) erasureVerifyCommand() *cobra.Command {
	var keyFile string
	command := &cobra.Command{
		Use: "verify [FILE|-]", Short: "Verify the chain of records, and its signatures", Args: cobra.MaximumNArgs(1),
		Long: `Verifies the chain of a file from sledctl erasure export, without a server if
--key names the key; without FILE, the chain of the server. Exits with code 5
if a record was changed, taken out or added, or is not signed.`,
		Example: "  sledctl erasure verify\n  sledctl erasure verify records --key key.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.erasureKey(cmd.Context(), keyFile)
			if err != nil {
				return err
			}
			text, err := a.exported(cmd.Context(), args)
			if err != nil {
				return err
			}
			public, err := erasure.ParsePublic(key)
			if err != nil {
				return &forgedError{err}
			}
			count, err := erasure.Verify(text, public)
			if err != nil {
				return &forgedError{err}
			}
			_, err = fmt.Fprintf(a.Out, "%d records: none was changed, taken out or added\n", count)
			return err
		},
	}
	command.Flags().StringVar(&keyFile, "key", "", "PEM file of the public key; default: that of the server")
	return command
}

// erasureKey reads the key of a file, or of the server.
func (a *app) erasureKey(ctx context.Context, file string) ([]byte, error) {
	if file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names it
		if err != nil {
			return nil, usagef("--key: %w", err)
		}
		return text, nil
	}
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	key, err := client.ErasureKey(ctx)
	if err == nil && key.PEM == "" {
		err = &forgedError{errors.New("sledd has no key for records (sledd --erasure-key-file): they are not signed")}
	}
	return []byte(key.PEM), err
}

// exported reads a chain from a file, or from the server.
func (a *app) exported(ctx context.Context, args []string) ([]byte, error) {
	var text []byte
	var err error
	switch {
	case len(args) == 0:
		list, err := a.erasures(ctx)
		if err != nil {
			return nil, err
		}
		return erasure.Export(list)
	case args[0] == "-":
		text, err = io.ReadAll(a.In)
	default:
		text, err = os.ReadFile(args[0])
	}
	if err != nil {
		return nil, usagef("records: %w", err)
	}
	return text, nil
}

func (a *app) erasureKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print the public key of the records", Args: cobra.NoArgs,
		Example: "  sledctl erasure key > key.pem", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := a.erasureKey(cmd.Context(), "")
			if err == nil {
				_, err = a.Out.Write(key)
			}
			return err
		},
	}
}
