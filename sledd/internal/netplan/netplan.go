// SPDX-License-Identifier: Apache-2.0

// Package netplan renders the network of a node to files of installed systems, by the generator of netplan.
package netplan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Generator is netplan's, as Debian has it in package netplan.io.
const Generator = "/usr/libexec/netplan/generate"

const (
	deadline = 20 * time.Second // of both; it takes 0.02 s
	// declared is where installed systems with netplan get the document, the only one that they read.
	declared = "/etc/netplan/90-sled.yaml"
)

// ErrMissing is that this server cannot render documents.
var ErrMissing = errors.New("this boot server has no " + Generator + ": install the package netplan.io")

// Render renders a document in its canonical form. The generator has no
// environment, a separate folder, and the rights of sledd, which are few.
func Render(ctx context.Context, generator string, document api.Network) (all api.RenderedNetwork, err error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for _, one := range []struct {
		renderer       string
		files, netplan *[]api.NetworkFile
	}{{networkd, &all.Networkd, &all.NetplanNetworkd}, {manager, &all.NetworkManager, &all.NetplanNetworkManager}} {
		text, err := source(document, one.renderer)
		if err != nil {
			return all, err
		}
		*one.netplan = []api.NetworkFile{{Path: declared, Content: text}}
		if *one.files, err = generate(ctx, generator, text); err != nil {
			return all, fmt.Errorf("netplan for %s: %w", one.renderer, err)
		}
	}
	return all, nil
}

// generate runs the generator in a new folder, and returns the files that it makes there.
func generate(ctx context.Context, generator, text string) ([]api.NetworkFile, error) {
	root, err := os.MkdirTemp("", "netplan-")
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	input := filepath.Join(root, declared)
	if err := os.MkdirAll(filepath.Dir(input), 0o700); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	var said bytes.Buffer
	command := exec.CommandContext(ctx, generator, "--root-dir", root) //nolint:gosec // our own constant
	command.Env, command.Dir, command.Stdout, command.Stderr = []string{}, root, &said, &said
	command.WaitDelay = time.Second
	err = command.Run()
	complaint := strings.Join(strings.Fields(said.String()), " ")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not end within %s", generator, deadline)
	case err != nil:
		return nil, fmt.Errorf("%w: %.400s", err, complaint)
	case complaint != "": // it warns of what it leaves out
		return nil, fmt.Errorf("%.400s", complaint)
	}
	return made(root)
}

// folders that the generator writes to, and where their files are in the installed system. What else it makes is for
// the machine that it runs on: rules for names that .link files set as well, and units.
var folders = map[string]string{
	"run/systemd/network":                   "/etc/systemd/network",
	"run/NetworkManager/system-connections": "/etc/NetworkManager/system-connections",
}

func made(root string) (all []api.NetworkFile, err error) {
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		found, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("files: %w", err)
		}
		for _, file := range found {
			content, err := os.ReadFile(filepath.Join(root, folder, file.Name())) //nolint:gosec // made by the generator
			if err != nil {
				return nil, fmt.Errorf("files: %w", err)
			}
			name := strings.Replace(file.Name(), "netplan-", "sled-", 1)
			all = append(all, api.NetworkFile{Path: path.Join(folders[folder], name), Content: string(content)})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the generator made no files")
	}
	return all, nil
}
