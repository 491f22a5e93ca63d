// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// lab is a sledd with nodes n1 to n5, images v1 to v3, and the CLI.
type lab struct {
	*acctest.CLI
	sledd *sleddtest.Sledd
	head  string
}

func sledd(t *testing.T) *sleddtest.Sledd {
	s := acctest.StartAlone(t)
	for i := range 5 {
		s.Declare(i + 1)
	}
	for _, name := range []string{"v1", "v2", "v3"} {
		s.Register(name)
	}
	return s
}

// start makes a lab that runs beside others; lines are of the provider block.
func start(t *testing.T, lines ...string) *lab {
	acctest.SkipBelow(t, "1.11.0", "1.11.0") // and skips without TF_ACC before anything is started
	t.Parallel()
	return alone(t, lines...)
}

// alone is start for a test that changes the environment.
func alone(t *testing.T, lines ...string) *lab {
	acctest.SkipBelow(t, "1.11.0", "1.11.0")
	s := sledd(t)
	return &lab{CLI: acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL, lines...), "")), sledd: s,
		head: acctest.Header(s.URL, lines...)}
}

// declare replaces the configuration.
func (l *lab) declare(bodies ...string) {
	l.Helper()
	l.Write(acctest.Config(l.head, strings.Join(bodies, "\n")))
}

// n is a binding of a node called like the resource.
func n(name string, lines ...string) string {
	return "resource \"sled_binding\" \"" + name + "\" {\n  node = \"" + name + "\"\n  " +
		strings.Join(lines, "\n  ") + "\n}\n"
}

func image(name string) string { return `image = "` + name + `"` }

// wants checks what sledd holds of node i.
func (l *lab) wants(i int, image string, generation int64) *api.Binding {
	l.Helper()
	b := l.sledd.Node(i).Binding
	if b == nil {
		l.Fatalf("n%d is not bound, want image %q", i, image)
	}
	if b.Image != image || b.Generation != generation {
		l.Errorf("n%d is bound to image %q at generation %d, want %q at %d", i, b.Image, b.Generation, image,
			generation)
	}
	return b
}

// plan returns the text of a plan on one line; code is that of -detailed-exitcode.
func (l *lab) plan(code int, arguments ...string) string {
	l.Helper()
	out := l.Run("plan", append([]string{"-detailed-exitcode"}, arguments...)...)
	if out.Code != code {
		l.Errorf("plan: exit code %d, want %d:\n%s", out.Code, code, out.Text)
	}
	return acctest.Flat(out.Text)
}

func (l *lab) has(text string, parts ...string) {
	l.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			l.Errorf("want %q in:\n%s", part, text)
		}
	}
}

func (l *lab) hasNot(text string, parts ...string) {
	l.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			l.Errorf("do not want %q in:\n%s", part, text)
		}
	}
}

// bound applies n1 with an image, lets the machine fulfil it, and wants an empty plan.
func (l *lab) bound(lines ...string) {
	l.Helper()
	l.declare(n("n1", lines...))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	l.Empty()
}
