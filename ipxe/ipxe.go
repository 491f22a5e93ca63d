// SPDX-License-Identifier: Apache-2.0

// Package ipxe holds the boot scripts. All are written for iPXE 1.0.0 of 2019 and newer.
package ipxe

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

var (
	// Boot is the static bootstrap, to embed into an iPXE binary or to serve by TFTP: it chains to the boot server.
	//go:embed boot.ipxe
	Boot string
	// Local boots the node's own disk.
	//go:embed local.ipxe
	Local string
	// Fallback is served by nginx when sledd does not answer and nothing is cached.
	//go:embed fallback.ipxe
	Fallback string
	//go:embed node.ipxe
	node string
	//go:embed error.ipxe
	problem string
)

// NodeValues fill node.ipxe.
type NodeValues struct {
	MAC       string
	System    string // path of the folder with vmlinuz and initrd.img for x86-64; iPXE for arm64 takes SYSTEM-arm64
	Arguments string // of the kernel, separated by spaces
}

// Node renders the script that boots the Sled system.
func Node(values NodeValues) (string, error) { return render("node.ipxe", node, values) }

// Error renders a script that shows a message and reboots. Bytes that iPXE would interpret become spaces.
func Error(message string) (string, error) {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune("${}|&#\\", r) {
			return ' '
		}
		return r
	}, message)
	return render("error.ipxe", problem, plain)
}

func render(name, text string, values any) (string, error) {
	parsed, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", name, err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, values); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}
