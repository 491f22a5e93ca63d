// SPDX-License-Identifier: Apache-2.0

// Package acctest is what the acceptance tests share: a sledd for each test, the provider, and the CLI as a user runs
// it.
package acctest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/sled-fleet/sled/terraform-provider/internal/provider"
)

// ProtoV6ProviderFactories is the provider for resource.Test.
var ProtoV6ProviderFactories = map[string]func() (tfprotov6.ProviderServer, error){
	"sled": providerserver.NewProtocol6WithError(provider.New("test")()),
}

// Header is the provider block for a server, with more lines in it such as `max_reimages = 3`. The token comes by
// SLED_TOKEN.
func Header(server string, lines ...string) string {
	return fmt.Sprintf("provider \"sled\" {\n  server = %q\n  %s\n}\n", server, strings.Join(lines, "\n  "))
}

// path is the CLI to test with: TF_ACC_TERRAFORM_PATH, else the terraform or tofu on PATH, else empty.
func path() string {
	if given := os.Getenv("TF_ACC_TERRAFORM_PATH"); given != "" {
		return given
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// needCLI skips a test unless TF_ACC is set, and fails it when no CLI is found.
func needCLI(t testing.TB) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
	if path() == "" {
		t.Fatal("acceptance tests need terraform or tofu: put one on PATH or name it by TF_ACC_TERRAFORM_PATH")
	}
}

// IsTofu reports whether the CLI is OpenTofu.
func IsTofu() bool { return strings.HasPrefix(filepath.Base(path()), "tofu") }

// SkipBelow skips a test that needs a newer CLI. Empty: no version of that CLI can do it.
func SkipBelow(t testing.TB, terraform, tofu string) {
	t.Helper()
	needCLI(t)
	least := terraform
	if IsTofu() {
		least = tofu
	}
	if least == "" {
		t.Skipf("%s cannot do this", filepath.Base(path()))
	}
	have, err := versionOfCLI()
	if err != nil {
		t.Fatalf("%s version: %v", path(), err)
	}
	if have.LessThan(version.Must(version.NewVersion(least))) {
		t.Skipf("needs %s, this is %s", least, have)
	}
}

// versionOfCLI asks the CLI once.
var versionOfCLI = sync.OnceValues(func() (*version.Version, error) {
	//nolint:gosec // the CLI under test
	command := exec.CommandContext(context.Background(), path(), "version", "-json")
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("run it: %w", err)
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	return version.NewVersion(answer.Version)
})
