// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// claimRow is one claim in a table.
type claimRow struct {
	api.Claim
	of api.Admission
}

// Site prints what the site requires of a claim.
func (p *Printer) Site(list api.AdmissionList) {
	p.Section("site", [][2]string{{"requires level", list.Level},
		{"rival time", (time.Duration(list.RivalSeconds) * time.Second).String()}})
	_, _ = fmt.Fprintln(p.Out)
}

// Claims prints the claims that wait.
func (p *Printer) Claims(items []api.Admission) {
	var rows []claimRow
	for _, item := range items {
		for _, claim := range item.Claims {
			rows = append(rows, claimRow{claim, item})
		}
	}
	Table(p.Out, p.Screen, p.claimColumns(), rows)
}

// Admission prints who is admitted as one node, and its claims.
func (p *Printer) Admission(shown api.Admission) {
	rows := [][2]string{
		{"node", wording.ClaimedName(shown)}, {"requires level", shown.Required}, {"state", shown.State},
		{"admitted", wording.Incumbent(shown.Incumbent, p.Now())}, {"boot expected", wording.Window(shown.Window)},
	}
	for _, alarm := range shown.Alarms {
		rows = append(rows, [2]string{"alarm " + alarm.Kind, wording.Alarm(alarm, p.Now())})
	}
	p.Section("admission", rows)
	if len(shown.Claims) > 0 {
		_, _ = fmt.Fprintln(p.Out)
		p.Claims([]api.Admission{shown})
	}
}

func (p *Printer) claimColumns() []Column[claimRow] {
	return []Column[claimRow]{
		Col("node", func(r claimRow) string { return wording.ClaimedName(r.of) }).Wraps(12),
		Col("state", func(r claimRow) string { return r.of.State }),
		Col("code", func(r claimRow) string { return r.Code }),
		Col("from", func(r claimRow) string { return wording.Dash(r.Address) }),
		Col("link", func(r claimRow) string { return r.Link }).Spare(),
		Col("serial", func(r claimRow) string { return wording.Dash(r.Serial.String()) }).Spare(),
		Col("since", func(r claimRow) string { return wording.Age(p.Now(), r.Since) }),
		Col("seen", func(r claimRow) string { return wording.Age(p.Now(), r.Seen) }).Spare(),
		Col("evidence", func(r claimRow) string { return wording.Dash(strings.Join(r.Evidence, ",")) }).Wraps(10),
		Col("needs", func(r claimRow) string { return r.of.Required }),
	}
}

// AlarmLine prints an alarm on a line.
func (p *Printer) AlarmLine(node string, alarm api.Alarm) {
	line := fmt.Sprintf("%s: %s: %s", node, p.Screen.Paint("alarm "+alarm.Kind, text.FgRed), wording.Alarm(alarm, p.Now()))
	_, _ = fmt.Fprintln(p.Out, p.Screen.Hang(line, 2))
}

// admissionText is the admission of a node in a cell.
func (p *Printer) admissionText(n api.Node) string {
	switch n.AdmissionState {
	case "admitted":
		return "admitted " + n.AdmissionLevel
	case "contested":
		return p.Screen.Paint(n.AdmissionState, text.FgRed)
	}
	return n.AdmissionState
}

// admissionRows are the details of the admission of a node.
func (p *Printer) admissionRows(n api.Node) [][2]string {
	rows := [][2]string{{"state", p.admissionText(n)}, {"waiting claims", strings.Join(n.WaitingClaims, " ")}}
	for _, alarm := range n.Alarms {
		rows = append(rows, [2]string{"alarm " + alarm.Kind, wording.Alarm(alarm, p.Now())})
	}
	return rows
}
