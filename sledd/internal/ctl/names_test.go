// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
)

func TestNames(t *testing.T) {
	server := hallServer(t)
	for line, want := range map[string]string{
		"node list": "storage-rack-b12-unit-01 storage-rack-b12-unit-02 storage-rack-b12-unit-03 " +
			"storage-rack-b12-unit-04 storage-rack-b12-unit-05 52:54:00:77:00:09",
		"node get n3": "storage-rack-b12-unit-03",
		"status": "storage-rack-b12-unit-01 storage-rack-b12-unit-02 storage-rack-b12-unit-03 " +
			"storage-rack-b12-unit-04 storage-rack-b12-unit-05 52:54:00:77:00:09",
		"binding list":             "storage-rack-b12-unit-01 storage-rack-b12-unit-04 storage-rack-b12-unit-05",
		"binding get n1":           "storage-rack-b12-unit-01",
		"image list":               ctltest.HallImage + " ubuntu-24.04-gpu-cuda-12.6-2026-11-01",
		"image get i":              ctltest.HallImage,
		"operator list":            "admin continuous-integration-of-hall-b",
		"rollout list":             "reimage-1042 reimage-1042",
		"rollout get reimage-1042": "reimage-1042",
	} {
		got := sledctl(t, server, "", append(strings.Fields(line), "-o", "name")...)
		if names := strings.Join(strings.Fields(got.out), " "); got.code != exitDone || names != want {
			t.Errorf("%s: exit %d, %s\n%s\nwant\n%s", line, got.code, got.err, names, want)
		}
	}
}

// A command whose objects have no names refuses before it does anything.
func TestNamesOfOtherCommands(t *testing.T) {
	named := 0
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		if _, ok := c.Annotations[onlyNames]; ok {
			named++
			return
		}
		if !c.Runnable() || c.HasSubCommands() || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		err := (&app{output: onlyNames}).start(c)
		if err == nil || !strings.Contains(err.Error(), c.CommandPath()+" does not print objects with names") {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
	})
	if named < 10 {
		t.Errorf("%d commands print names", named)
	}
}
