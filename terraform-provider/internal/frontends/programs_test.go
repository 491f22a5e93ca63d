// SPDX-License-Identifier: Apache-2.0

package frontends_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// site is a sledd, and the folder of its operator, whose programs run in the checkout.
type site struct {
	*testing.T
	*sleddtest.Sledd
	tree   string // the checkout
	folder string
}

func startSite(t *testing.T) *site {
	t.Helper()
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, Sledd: acctest.StartAlone(t), folder: t.TempDir(), tree: tree}
	link := filepath.Join(s.folder, "collections/ansible_collections/sled/fleet")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tree, link); err != nil {
		t.Fatal(err)
	}
	return s
}

// buildSledctl returns the path of the program.
func buildSledctl(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sledctl")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/sled-fleet/sled/sledd/cmd/sledctl")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

// file writes a file and returns its path.
func (s *site) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// group is one of an inventory, or what belongs to it.
type group map[string]any

// inventory writes one with these groups of nodes beside the controller, and returns its path. More variables replace
// those of all.
func (s *site) inventory(name string, nodes, more group) string {
	s.Helper()
	variables := group{"sled_server": s.URL, "sled_ca_file": "", "sled_token_file": s.file("token", s.Token),
		"sled_authorized_keys": []string{}, "ansible_connection": "local",
		"ansible_python_interpreter": "{{ ansible_playbook_python }}", "supervise_entry_methods": []string{"idle"},
		"supervise_verify": "none", "power_driver": "none", "sled_report_dir": s.folder}
	for key, value := range more {
		variables[key] = value
	}
	text, err := json.Marshal(group{"all": group{"vars": variables, "children": group{
		"controllers": group{"hosts": group{"localhost": nil}}, "nodes": nodes}}}) // which is YAML
	if err != nil {
		s.Fatal(err)
	}
	return s.file(name, string(text))
}

// execute runs a program in the checkout, with the collection of the checkout. It returns its output, its errors and
// its exit code.
func (s *site) execute(program string, arguments ...string) (out, complaint string, code int) {
	s.Helper()
	command := exec.CommandContext(s.Context(), program, arguments...)
	command.Dir = s.tree
	command.Env = append(os.Environ(), "ANSIBLE_CONFIG="+filepath.Join(s.tree, "ansible.cfg"), "ANSIBLE_NOCOLOR=1",
		"ANSIBLE_COLLECTIONS_PATH="+filepath.Join(s.folder, "collections"), "SLED_SERVER="+s.URL, "SLED_TOKEN="+s.Token,
		"SLED_CONFIG=/dev/null", "PYTHONDONTWRITEBYTECODE=1")
	var printed, failed strings.Builder
	command.Stdout, command.Stderr = &printed, &failed
	err := command.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		s.Fatalf("%s: %v", program, err)
	}
	return printed.String(), failed.String(), command.ProcessState.ExitCode()
}

// run runs a program that has to succeed, and returns what it prints.
func (s *site) run(program string, arguments ...string) string {
	s.Helper()
	out, complaint, code := s.execute(program, arguments...)
	changes := slices.Contains(arguments, "--check") && code == 2 && strings.Contains(out, "nodes would change: ")
	if code != 0 && !changes {
		s.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(arguments, " "), code, out, complaint)
	}
	return out
}

// stored is all that a change of bindings or nodes changes, with revisions.
func stored(s *sleddtest.Sledd, t *testing.T) string {
	t.Helper()
	nodes, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(nodes, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
