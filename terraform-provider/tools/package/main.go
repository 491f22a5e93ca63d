// SPDX-License-Identifier: Apache-2.0

// Package builds the provider and packs it as Terraform and OpenTofu want it in a mirror: a zip for each platform,
// under both registries' names. The same source and the same Go give the same bytes, so a lock file made from one
// build fits the next.
//
//	go run ./terraform-provider/tools/package -version 0.1.0 -to build/share/terraform/plugins linux_amd64 linux_arm64
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// registries are the hosts that the two CLIs look for sled-fleet/sled at.
var registries = []string{"registry.terraform.io", "registry.opentofu.org"}

// packed is the time of every file in a zip, the earliest that the format has.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

var (
	versionPattern  = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	platformPattern = regexp.MustCompile(`^([0-9a-z]+)_([0-9a-z]+)$`)
)

func main() {
	version := flag.String("version", "", "version of the provider, such as 0.1.0")
	to := flag.String("to", "", "directory of the mirror")
	flag.Parse()
	if err := run(context.Background(), *version, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, to string, platforms []string) error {
	if !versionPattern.MatchString(version) {
		return fmt.Errorf("version %q: want a semantic version without v, such as 0.1.0", version)
	}
	if to == "" || len(platforms) == 0 {
		return errors.New("want -to DIRECTORY and at least one platform, such as linux_amd64")
	}
	for _, platform := range platforms {
		content, err := pack(ctx, version, platform)
		if err != nil {
			return err
		}
		for _, registry := range registries {
			name := fmt.Sprintf("terraform-provider-sled_%s_%s.zip", version, platform)
			if err := put(filepath.Join(to, registry, "sled-fleet", "sled", name), content); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack returns the bytes of the zip for one platform.
func pack(ctx context.Context, version, platform string) ([]byte, error) {
	scratch, err := os.MkdirTemp("", "sled-provider")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binary := filepath.Join(scratch, "terraform-provider-sled_v"+version)
	if err := build(ctx, version, platform, binary); err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	err = errors.Join(add(archive, binary, 0o755), add(archive, "LICENSE", 0o644), archive.Close())
	return buffer.Bytes(), err
}

func build(ctx context.Context, version, platform, binary string) error {
	pair := platformPattern.FindStringSubmatch(platform)
	if pair == nil {
		return fmt.Errorf("platform %q: want SYSTEM_ARCHITECTURE, such as linux_amd64", platform)
	}
	//nolint:gosec // the operands come from the Makefile, and no shell reads them
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -buildid= -X main.version="+version,
		"-o", binary, "./terraform-provider")
	// Settings of the target in the caller's environment must not affect the bytes.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+pair[1], "GOARCH="+pair[2], "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("go build for %s: %w", platform, err)
	}
	return nil
}

func add(archive *zip.Writer, file string, mode os.FileMode) error {
	content, err := os.ReadFile(file) //nolint:gosec // a file that this program names
	if err != nil {
		return err
	}
	header := &zip.FileHeader{Name: filepath.Base(file), Method: zip.Deflate, Modified: packed}
	header.SetMode(mode)
	writer, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = writer.Write(content)
	return err
}

// put writes a file that appears whole, and leaves one alone that is the same already.
func put(file string, content []byte) error {
	old, err := os.ReadFile(file) //nolint:gosec // below the requested directory
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a mirror is for all to read
		return err
	}
	if err := os.WriteFile(file+".new", content, 0o644); err != nil { //nolint:gosec // likewise
		return err
	}
	return os.Rename(file+".new", file)
}
