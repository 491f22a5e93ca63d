// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestVersion(t *testing.T) {
	s := begin(t)
	const apart = "warning: this is release 1.2.3, and sledd is release"
	for _, c := range []struct {
		server, client string
		code           int
		out, warning   string
	}{
		{s.URL, sleddtest.Version, exitDone, "sledctl  9.9.9\nsledd    9.9.9\n", ""},
		{s.URL, "1.2.3", exitDone, "sledctl  1.2.3\nsledd    9.9.9\n", apart + " 9.9.9"},
		{double(t, map[string]any{"/v1/version": api.Version{Version: "1\x1b[2J"}}), "1.2.3", exitDone, "", apart + " 1?[2J"},
		{double(t, map[string]any{"/v1/version": http.StatusUnauthorized}), "1.2.3", exitDenied, "sledctl  1.2.3\n", ""},
		{"http://127.0.0.1:1", "1.2.3", exitUnreachable, "sledctl  1.2.3\n", ""},
		{"", "1.2.3", exitDone, "sledctl  1.2.3\n", ""},
	} {
		var out, err ctltest.Buffer
		environment := map[string]string{"SLED_SERVER": c.server, "SLED_TOKEN": token}
		code := Run(t.Context(), []string{"version"}, System{
			Printer: show.Printer{Out: &out, Err: &err, Now: ctltest.Now},
			Version: c.client, Getenv: func(name string) string { return environment[name] }})
		warned := strings.Contains(err.String(), "warning")
		if code != c.code || !strings.Contains(out.String(), c.out) || warned != (c.warning != "") ||
			!strings.Contains(err.String(), c.warning) {
			t.Errorf("%s: exit %d, %q, %q; want %+v", c.server, code, out.String(), err.String(), c)
		}
	}
	s.does(exitDone, "version -o json", `"server": "9.9.9"`)
}

func TestSuggestions(t *testing.T) {
	for line, want := range map[string]string{
		"stauts":          `unknown command "stauts" for "sledctl"; did you mean: sledctl status`,
		"bin":             "did you mean: sledctl bind, sledctl binding",
		"nod":             "did you mean: sledctl node",
		"node lst":        "sledctl node list",
		"get nodes":       "did you mean: sledctl node get",
		"delete image":    "did you mean: sledctl image delete",
		"abort":           "did you mean: sledctl rollout abort",
		"get":             "sledctl binding get",
		"accept":          "did you mean: sledctl node apply",
		"frobnicate":      `unknown command "frobnicate" for "sledctl"` + "\nsee sledctl --help",
		"node frobnicate": `unknown command "frobnicate" for "sledctl node"` + "\nsee sledctl node --help",
	} {
		got := sledctl(t, "", "", strings.Fields(line)...)
		if got.code != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("sledctl %s: exit %d, %q; want %q", line, got.code, got.err, want)
		}
	}
}
