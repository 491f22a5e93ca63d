// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// commandTime bounds one command of the CLI.
const commandTime = 10 * time.Minute

// asking are the commands that may prompt.
var asking = []string{"init", "plan", "apply", "destroy", "import", "refresh"}

// CLI runs the commands of Terraform or OpenTofu as a user does, in a separate directory, with the provider of this
// process. It is for what resource.Test cannot check: texts, exit codes, saved plans and the bytes of the state file.
type CLI struct {
	testing.TB
	Dir string

	reattach string
}

// Output is what a command printed, both streams, and how it ended.
type Output struct {
	Text string
	Code int
}

// NewCLI makes a directory with this configuration. It needs no init: a CLI neither installs nor locks a provider that
// already runs. See Config for the head that a configuration needs.
func NewCLI(t testing.TB, config string) *CLI {
	t.Helper()
	needCLI(t)
	c := &CLI{TB: t, Dir: t.TempDir(), reattach: serve(t)}
	c.Write(config)
	return c
}

// Config is a whole configuration for a CLI: the provider block of a header with the body after it.
func Config(header, body string) string {
	return "terraform {\n  required_providers {\n    sled = { source = \"sled-fleet/sled\" }\n  }\n}\n\n" + header +
		"\n" + body
}

// Write replaces the configuration.
func (c *CLI) Write(config string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.Dir, "main.tf"), []byte(config), 0o600); err != nil {
		c.Fatal(err)
	}
}

// Run runs a command; arguments follow it.
func (c *CLI) Run(command string, arguments ...string) Output {
	c.Helper()
	return c.RunWith(func(*os.Process) {}, command, arguments...)
}

// RunWith is Run for a test that does something to the process of the CLI, such as to interrupt it.
func (c *CLI) RunWith(started func(*os.Process), command string, arguments ...string) Output {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), commandTime)
	defer cancel()
	arguments = append([]string{command}, arguments...)
	if slices.Contains(asking, command) {
		arguments = slices.Insert(arguments, 1, "-no-color", "-input=false")
	}
	run := exec.CommandContext(ctx, path(), arguments...) //nolint:gosec // the CLI under test
	run.Dir = c.Dir
	run.Env = append(os.Environ(), "TF_REATTACH_PROVIDERS="+c.reattach, "TF_CLI_CONFIG_FILE=/dev/null",
		"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	var text bytes.Buffer
	run.Stdout, run.Stderr = &text, &text
	err := run.Start()
	if err == nil {
		started(run.Process)
		err = run.Wait()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		c.Fatalf("%s: %v: %s", strings.Join(arguments, " "), err, text.String())
	}
	return Output{text.String(), run.ProcessState.ExitCode()}
}

// Must runs a command that has to succeed and returns its output.
func (c *CLI) Must(command string, arguments ...string) string {
	c.Helper()
	out := c.Run(command, arguments...)
	if out.Code != 0 {
		c.Fatalf("%s %s: exit code %d\n%s", command, strings.Join(arguments, " "), out.Code, out.Text)
	}
	return out.Text
}

// Apply applies without a prompt.
func (c *CLI) Apply(arguments ...string) string {
	c.Helper()
	return c.Must("apply", append([]string{"-auto-approve"}, arguments...)...)
}

// Empty requires a plan that changes nothing.
func (c *CLI) Empty() {
	c.Helper()
	if out := c.Run("plan", "-detailed-exitcode"); out.Code != 0 {
		c.Errorf("the plan is not empty: exit code %d\n%s", out.Code, out.Text)
	}
}

// nothing is the state that is written when the first apply fails.
var nothing = regexp.MustCompile(`"resources": \[\]`)

// Fails requires a command to fail with a text of this pattern, apart from line breaks and the CLI's frame. The state
// file must stay the same, byte for byte. It returns the output.
func (c *CLI) Fails(pattern, command string, arguments ...string) string {
	c.Helper()
	before := c.State()
	out := c.Run(command, arguments...)
	if out.Code == 0 || !regexp.MustCompile(pattern).MatchString(Flat(out.Text)) {
		c.Errorf("%s: exit code %d, want a failure with %q:\n%s", command, out.Code, pattern, out.Text)
	}
	if after := c.State(); after != before && (before != "" || !nothing.MatchString(after)) {
		c.Errorf("%s failed and changed the state\nbefore %s\nafter %s", command, before, after)
	}
	return out.Text
}

// State is the state file as it is, empty when there is none.
func (c *CLI) State() string {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.Dir, "terraform.tfstate"))
	if err != nil && !os.IsNotExist(err) {
		c.Fatal(err)
	}
	return string(content)
}

// NoSecret requires that none of these texts is in the state file, or in a saved plan, if one is named, with private
// state decoded.
func (c *CLI) NoSecret(plan string, secrets ...string) {
	c.Helper()
	places := map[string]string{"what is kept": c.Kept(plan), "show -json": c.Must("show", "-json")}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				c.Errorf("%s holds the secret %q:\n%s", place, secret, text)
			}
		}
	}
}

var frame = regexp.MustCompile(`[\s│╷╵]+`)

// Flat returns a text on one line, without the frame that the CLI draws around errors.
func Flat(text string) string { return strings.TrimSpace(frame.ReplaceAllString(text, " ")) }

// serve runs the provider in this process until the test ends and returns the value of TF_REATTACH_PROVIDERS.
func serve(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended, failed := make(chan *plugin.ReattachConfig), make(chan struct{}), make(chan error, 1)
	server, err := ProtoV6ProviderFactories["sled"]()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		failed <- tf6server.Serve("registry.terraform.io/sled-fleet/sled",
			func() tfprotov6.ProviderServer { return server },
			tf6server.WithDebug(ctx, started, ended), tf6server.WithLoggingSink(sink{t}),
			tf6server.WithoutLogStderrOverride(), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	select {
	case config := <-started:
		return reattach(t, config)
	case err := <-failed:
		t.Fatalf("serve the provider: %v", err)
	}
	return ""
}

// sink makes the provider log by TF_LOG, and nothing without it.
type sink struct{ testing.TB }

// Parallel is part of the interface and never called.
func (sink) Parallel() {}

func reattach(t testing.TB, config *plugin.ReattachConfig) string {
	t.Helper()
	one := map[string]any{
		"Protocol": config.Protocol, "ProtocolVersion": config.ProtocolVersion, "Pid": config.Pid, "Test": config.Test,
		"Addr": map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}
	all, err := json.Marshal(map[string]any{"registry.terraform.io/sled-fleet/sled": one,
		"registry.opentofu.org/sled-fleet/sled": one})
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}
