// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const (
	fleetNodes = 400
	fleetNode  = "storage-hall-b-row-00-rack-000-unit-"
	erasedNode = "compute-hall-c-row-11-rack-042-unit-20"
	brokenNode = "compute-hall-c-row-11-rack-042-unit-21"
)

// fleetLines are command lines in the order in which they run, at least one for each command, with the exit code of
// those that fail. NODE1 is a node that runs, NODE14 one that failed, and so on. IMAGE and FOLDER stand for a name and
// a directory.
var fleetLines = []struct {
	line string
	code int
}{
	{"status", exitDone}, {"status --failed", exitDone}, {"status --overdue --sort name", exitDone},
	{"status --by rack", exitDone}, {"status --by model", exitDone}, {"status --by phase --drift", exitDone},
	{"status NODE0 NODE4 NODE10 NODE14 NODE20", exitDone},
	{"node list", exitDone}, {"node list --failed", exitDone}, {"node list --phase discovered", exitDone},
	{"node get NODE0", exitDone}, {"node get NODE1", exitDone}, {"node get NODE4", exitDone}, {"node get NODE5", exitDone},
	{"node get NODE10", exitDone}, {"node get NODE13", exitDone}, {"node get NODE14", exitDone},
	{"node get 52:54:00:77:00:27", exitDone}, {"node disks NODE20 --match serial:S64GNE0R9000200", exitDone},
	{"node network NODE20", exitDone},
	{"binding list", exitDone}, {"binding list --drift", exitDone}, {"binding get NODE1", exitDone},
	{"image list", exitDone}, {"image get IMAGE", exitDone}, {"operator list", exitDone},
	{"rollout list", exitDone}, {"rollout get reimage-1", exitDone}, {"rollout report reimage-1", exitDone},
	{"timeline NODE14", exitDone}, {"timeline BROKEN", exitDone}, {"events", exitDone}, {"events NODE14", exitDone},
	{"events --kind bind,rescue", exitDone}, {"log BROKEN", exitDone}, {"console NODE20", exitDone},
	{"known-hosts NODE20", exitFailed}, {"claims", exitDone}, {"claims NODE20", exitDone},
	{"kexec stats", exitDone}, {"kexec quirks", exitDone},
	{"erasure list", exitDone}, {"erasure show 1", exitDone}, {"erasure verify", exitDone}, {"erasure key", exitDone},
	{"erasure export", exitDone}, {"store", exitDone}, {"multicast", exitDone}, {"version", exitDone},
	{"audit --limit 5", exitDone},
	{"wait NODE14", exitFailed}, {"wait NODE20 NODE21", exitDone},

	{"bind -l rack=hall-b-row-00-rack-003 --image OLD --take-over --dry-run", exitDone},
	{"bind -l rack=hall-b-row-00-rack-003 --image OLD --take-over", exitConflict},
	{"bind NODE20 --image OLD", exitDone}, {"bind NODE21 --image OLD --owner alice", exitConflict},
	{"bind NODE20 --wipe-only --yes", exitDone}, {"unbind NODE20 NODE21 --take-over --dry-run", exitDone},
	{"unbind NODE20", exitConflict}, {"unbind NODE20 --take-over --yes", exitDone}, {"binding delete NODE6", exitNotFound},
	{"image capture NODE22 golden-storage-node-2026-11-23", exitDone},
	{"image apply gpu-node-ubuntu-24.04-cuda-12.6-2026-11-21 " +
		"--url http://images.hall-b.example.net:8080/images/gpu.sled --digest sha256:" +
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" +
		" --bytes 183840755712 --file-bytes 123456789012", exitDone},
	{"image add --url none.sled", exitFailed}, {"image sign IMAGE --key none.key", exitUsage},
	{"image unsign IMAGE", exitDone},
	{"image delete IMAGE", exitConflict}, {"image delete gpu-node-ubuntu-24.04-cuda-12.6-2026-11-21", exitDone},
	{"node apply NODE23 --label owner=team-of-continuous-integration-and-storage", exitDone},
	{"node forget-disk NODE23 serial:S64GNE0R9000230", exitNotFound},
	{"node replace NODE23 --mac 52:54:00:77:99:23", exitDone},
	{"node delete NODE24 --yes", exitConflict}, {"node delete NODE20 --yes", exitDone},
	{"rescue NODE25 --key testdata/key.pub", exitDone}, {"rescue NODE25 --end", exitDone},
	{"admit NODE26 --within 10m", exitDone}, {"admit NODE26 --unseen", exitDone},
	{"refuse NODE26 0000-0000", exitNotFound}, {"revoke NODE26", exitConflict}, {"ack NODE5", exitDone},
	{"run NODE25 hpl-on-all-cores-2026-11-23 --interrupt --dry-run -- ./xhpl 12800", exitDone},
	{"run NODE25 IMAGE -d", exitSled}, {"job list", exitDone}, {"job get 1kq7d2g3r9qa", exitNotFound},
	{"job logs 1kq7d2g3r9qa", exitNotFound}, {"job files 1kq7d2g3r9qa", exitNotFound},
	{"job cancel 1kq7d2g3r9qa", exitNotFound},
	{"backup none.age", exitUsage}, {"release NODE25 NODE26 --dry-run", exitDone}, {"release NODE26 --yes", exitDone},
	{"rollout abort reimage-1", exitDone},
	{"operator create backup-of-hall-b-every-night --role read --owner storage-team@hall-b.example.net", exitDone},
	{"operator delete backup-of-hall-b-every-night", exitDone}, {"store heal", exitDone},
	{"sim", exitUsage}, {"check-history none.jsonl", exitFailed},
	{"context set hall-b --server https://boot.hall-b.example.net:8443", exitDone},
	{"context list", exitDone}, {"context use hall-b", exitDone}, {"context delete hall-b", exitDone},
}

// drawn are the commands that draw until they are interrupted: TestWatchesFitTheTerminal has them.
var drawn = map[string]bool{"sledctl watch": true, "sledctl rollout watch": true}

// changing is what differs from run to run, and what stands for it.
var changing = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), fleetUUID},
	{regexp.MustCompile(`boot-(\d+)-\d{19}`), "boot-$1-1795262400000000000"},
	{regexp.MustCompile(`sledu_[0-9a-f]{64}`), "sledu_" + strings.Repeat("0f", 32)},
	{regexp.MustCompile(`"signature":"[^"]*"`), `"signature":"c2lnbmVk"`},
	{regexp.MustCompile(`"(previous|sha256)":"[0-9a-f]{64}"`), `"$1":"` + strings.Repeat("00", 32) + `"`},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://127.0.0.1:9470"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b`), "C1D2-E3F4"},
}

// Every command over one large fleet, as a person sees it. Nothing is wider than the terminal.
func TestEveryCommandOverALargeFleet(t *testing.T) {
	for _, width := range ctltest.Widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			folder := t.TempDir()
			s := largeFleet(t, folder)
			all := ctltest.Transcript{}
			for _, c := range fleetLines {
				args := fleetArguments(c.line, folder)
				var out, err ctltest.Buffer
				environment := map[string]string{"SLED_SERVER": s.URL, "SLED_TOKEN": token, "HOME": folder}
				code := Run(t.Context(), args, System{
					Printer: show.Printer{Out: &out, Err: &err, Screen: ctltest.Terminal(width), Now: ctltest.Now},
					In:      strings.NewReader(""),
					Getenv:  func(name string) string { return environment[name] }, Version: sleddtest.Version})
				if code != c.code {
					t.Errorf("%s: exit %d, want %d: %s", c.line, code, c.code, err.String())
				}
				text := strings.ReplaceAll(out.String()+err.String(), folder, "FOLDER")
				if !whole(c.line) {
					ctltest.CheckWidth(t, c.line, text, width)
				}
				for _, change := range changing {
					text = change.pattern.ReplaceAllString(text, change.as)
				}
				all.Add(c.line, firstLines(text))
			}
			all.At(t, width, "fleet")
		})
	}
}

// firstLines returns the first lines of an output: those of the nodes after them have the same form.
func firstLines(output string) string {
	const most = 60
	lines := strings.SplitAfter(output, "\n")
	if len(lines) <= most {
		return output
	}
	return fmt.Sprintf("%s(and %d more lines)\n", strings.Join(lines[:most], ""), len(lines)-most)
}

// whole reports whether a command prints what programs read, on a terminal too.
func whole(line string) bool {
	return strings.HasPrefix(line, "erasure export") || strings.HasPrefix(line, "erasure key") ||
		strings.HasPrefix(line, "console")
}

func TestTheLargeFleetHasEveryCommand(t *testing.T) {
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		ran := drawn[c.CommandPath()] || c.HasSubCommands()
		for _, l := range fleetLines {
			ran = ran || strings.HasPrefix("sledctl "+l.line+" ", c.CommandPath()+" ")
		}
		if !ran {
			t.Errorf("%s has no line in fleetLines", c.CommandPath())
		}
	})
}

var numbered = regexp.MustCompile(`NODE(\d+)`)

func fleetArguments(line, folder string) []string {
	line = numbered.ReplaceAllStringFunc(line, func(word string) string {
		var n int
		_, _ = fmt.Sscanf(word, "NODE%d", &n)
		return fmt.Sprintf("%s%02d", fleetNode, n)
	})
	return strings.Fields(strings.NewReplacer("FOLDER", folder, "BROKEN", brokenNode, "IMAGE", ctltest.HallImage,
		"OLD", "debian-12-bookworm-hardened-2026-10-30").Replace(line))
}

// sized is a store that knows its size.
type sized struct{ store.Store }

func (sized) Usage(context.Context) (store.Usage, error) {
	return store.Usage{Bytes: 1_650_000, InUse: 1_650_000, Quota: store.DefaultQuota}, nil
}

func (sized) Compact(context.Context, int64) error { return nil }
func (sized) Heal(context.Context) error           { return nil }

// largeFleet is the hall of sleddtest, with what only requests make: a rollout, records of erased disks, a log, a
// recorded console, a claim.
func largeFleet(t *testing.T, folder string) *sleddtest.Sledd {
	t.Helper()
	var ticks atomic.Int64 // keys of events differ
	clock := func() time.Time { return ctltest.Noon.Add(time.Duration(ticks.Add(1)) * time.Microsecond) }
	s := sleddtest.StartWith(t, sleddtest.Options{Store: sized{&storetest.Memory{}}, Now: clock, ConsoleDirectory: folder})
	s.Hall(fleetNodes, ctltest.Noon)
	for i, name := range []string{erasedNode, brokenNode} {
		spec := api.NodeSpec{MAC: sleddtest.MAC(1000 + i), Name: name, Disk: fmt.Sprintf("serial:LAB-%d", 1000+i)}
		if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		s.Bind(api.BindingSpec{Node: name})
	}
	erased := s.Machine(1000)
	erased.Poll(0)
	erased.Report("begin step=1 of=2 verb=wipe")
	erased.Report("erasure result=good disk=nvme0n1 serial=LAB-1000 wwn=eui.36344730529000000025384500000001 path= "+
		"model=SAMSUNG%20MZQL23T8HCLS-00A07 bytes=3840755982336 sector=512 level=empty method=discard verify=sample "+
		"read=37748736 seconds=1 samples=1024 seed="+strings.Repeat("0a", 32),
		"erasure result=left disk=nvme1n1 serial=S64GNE0R900002 wwn= path= model= bytes=1 sector=512 "+
			"reason=on%20the%20keep%20list",
		"end step=1 verb=wipe code=0 seconds=1")
	fail(s.Machine(1001))
	largeRollout(t, s)
	record := "2026-11-21T11:59:58.000Z [    0.000000] Linux version 6.1.0-28-amd64 (debian-kernel@lists.debian.org) " +
		"(gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC\n"
	file := console.Directory(folder).File(sleddtest.MAC(20))
	if err := os.WriteFile(file, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Claim(26, "b1")
	operator := api.Operator{Name: "continuous-integration-of-hall-b", Role: api.Operate,
		Owner: "friday-maintenance@ci.hall-b.example.net"}
	if _, err := s.Client().PutOperator(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	return s
}

// largeRollout starts a rollout in which one node has failed and others run.
func largeRollout(t *testing.T, s *sleddtest.Sledd) {
	t.Helper()
	spec := api.RolloutSpec{Desired: "image " + ctltest.HallImage, Canary: "1", Batch: "25%", FailureBudget: "25%",
		Again: true}
	for i := 18; i < 38; i++ {
		spec.Nodes = append(spec.Nodes, fmt.Sprintf("%s%02d", fleetNode, i))
	}
	r, err := s.Client().StartRollout(t.Context(), "reimage", spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []api.NodeRunSpec{{State: api.RunRunning, EntryMethod: "warm"},
		{State: api.RunFailed, EntryMethod: "warm", Reason: "write: code 5 integrity: " + ctltest.HallReason}} {
		s.Report(r.Name, spec.Nodes[0], run)
	}
}
