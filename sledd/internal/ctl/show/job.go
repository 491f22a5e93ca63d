// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// JobColumns are the columns of a list of jobs.
var JobColumns = []Column[api.Job]{
	Col("id", func(j api.Job) string { return j.ID }),
	Col("node", func(j api.Job) string { return wording.Clean(j.Node) }).Wraps(12),
	Col("image", func(j api.Job) string { return j.Image }).Wraps(16),
	Col("state", func(j api.Job) string { return string(j.State) }),
	Col("exit", exitOf),
	Col("seconds", func(j api.Job) string { return lasted(j) }),
	Col("created", func(j api.Job) string { return wording.Time(j.Created) }).Wraps(10),
	Col("by", func(j api.Job) string { return wording.Clean(j.Actor) }).Spare(),
	Col("reason", func(j api.Job) string { return j.Reason.String() }).Wraps(20),
}

// exitOf is how a payload has ended.
func exitOf(j api.Job) string {
	switch {
	case j.Exit != nil:
		return strconv.Itoa(*j.Exit)
	case j.Signal != 0:
		return "signal " + strconv.Itoa(j.Signal)
	}
	return ""
}

func lasted(j api.Job) string {
	if j.Seconds == 0 {
		return ""
	}
	return strconv.FormatFloat(j.Seconds, 'f', 1, 64)
}

// meter is the power control that was read.
func meter(e *api.Energy) string {
	if e == nil {
		return ""
	}
	return e.Source.String()
}

// Job prints one job.
func (p *Printer) Job(j api.Job) {
	size := func(f *api.JobFile) string {
		if f == nil {
			return ""
		}
		return wording.Bytes(f.Bytes) + " sha256:" + f.SHA256
	}
	rows := [][2]string{
		{"id", j.ID}, {"node", wording.Clean(j.Node)}, {"image", j.Image}, {"state", string(j.State)},
		{"reason", j.Reason.String()}, {"exit", exitOf(j)}, {"ended by", j.EndedBy}, {"confirms by", j.Confirm},
		{"seconds", lasted(j)},
		{"energy", wording.Energy(j.Energy)}, {"meter", meter(j.Energy)},
		{"entry point", words(j.Entrypoint)}, {"command", words(j.Command)}, {"environment", words(j.Environment)},
		{"kernel", j.Kernel}, {"release", j.Release}, {"kernel arguments", wording.Clean(j.Arguments)},
		{"tune", words(j.Tune)},
		{"secrets", words(j.SecretNames)}, {"user", j.User}, {"root", j.Root}, {"privileged", wording.OnlyYes(j.Privileged)},
		{"artefacts", words(j.Artefacts)}, {"timeout", strconv.Itoa(j.Timeout) + " s"}, {"after", j.After},
		{"admitted at", j.Level}, {"digest", j.Digest}, {"output", size(j.Output)}, {"errors", size(j.Errors)},
		{"files", size(j.Files)}, {"requested by", wording.Clean(j.Actor)}, {"created", wording.Time(j.Created)},
		{"started", wording.Time(j.Started)}, {"ended", wording.Time(j.Ended)},
	}
	p.Section("job", rows)
}

// words of a command, each without what a terminal would obey.
func words(list []string) string { return wording.Clean(strings.Join(list, " ")) }
