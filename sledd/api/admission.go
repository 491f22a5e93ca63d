// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"time"
)

// Claim is one boot that states that it is a node, and is not believed for that.
type Claim struct {
	Code     string     `json:"code" example:"K7QF-2M9D" doc:"What the machine prints to its consoles"`
	Address  string     `json:"address,omitempty" doc:"That it speaks from"`
	Link     string     `json:"link" enum:"same,other,unknown" doc:"Whether the address belongs to the node's MAC on the link; unknown behind a router"`
	NIC      string     `json:"nic" doc:"MAC that it uses"`
	UUID     Identifier `json:"uuid,omitzero"`
	Serial   Identifier `json:"serial,omitzero"`
	BootID   Identifier `json:"boot_id"`
	Since    time.Time  `json:"since"`
	Seen     time.Time  `json:"seen"`
	Evidence []string   `json:"evidence" nullable:"false" doc:"ticket, console, person, tpm, attestation, unseen"`
	Rival    bool       `json:"rival,omitempty" doc:"It spoke while the admitted one lived"`
}

// Incumbent is the claim that is admitted: it alone gets plans and secrets.
type Incumbent struct {
	Claim
	Level     string    `json:"level" enum:"open,expected,proven,attested"`
	By        string    `json:"by" doc:"The evidence, window, succession or open"`
	Admitted  time.Time `json:"admitted"`
	Contested bool      `json:"contested,omitempty" doc:"Another machine claims to be the node; secrets are withheld"`
}

// Window is the time in which an act of an operator makes a boot expected.
type Window struct {
	Opened time.Time `json:"opened"`
	Ends   time.Time `json:"ends"`
	By     string    `json:"by"`
}

// Alarm is a kind of event that an operator has to acknowledge (contract/admission.md, Alarms).
type Alarm struct {
	Kind    string    `json:"kind" enum:"rival,link,window,boots,seed,flood"`
	Address string    `json:"address,omitempty" doc:"That the claim spoke from. Absent: it is about the node, or about more addresses than are kept"`
	Detail  Prose     `json:"detail" doc:"Of the newest"`
	Since   time.Time `json:"since"`
	Last    time.Time `json:"last"`
	Count   int64     `json:"count"`
}

// NodeAdmission is the admission of a node in short.
type NodeAdmission struct {
	AdmissionState string   `json:"admission_state" enum:"none,waiting,admitted,contested" doc:"Whether a machine is admitted as the node, or claims to be it"`
	AdmissionLevel string   `json:"admission_level,omitempty" enum:"open,expected,proven,attested" doc:"Level at which it is admitted"`
	WaitingClaims  []string `json:"waiting_claims,omitempty" doc:"Codes of claims that are admitted only if an operator acts"`
	Alarms         []Alarm  `json:"alarms,omitempty" doc:"Those that no operator has acknowledged"`
}

// AckSpec acknowledges alarms.
type AckSpec struct {
	Until time.Time `json:"until" doc:"An alarm that was counted after this time stays: take the newest last of those that were read"`
}

// AlarmKinds are the kinds of alarms.
func AlarmKinds() []string { return []string{"rival", "link", "window", "boots", "seed", "flood"} }

// Admission is who claims to be a node, and who is admitted.
type Admission struct {
	MAC        string     `json:"mac"`
	Name       string     `json:"name,omitempty"`
	State      string     `json:"state" enum:"none,waiting,admitted,contested"`
	Required   string     `json:"required" enum:"open,expected,proven,attested" doc:"Level that a claim must reach"`
	Window     *Window    `json:"window,omitempty"`
	HandedOver time.Time  `json:"handed_over,omitzero" doc:"When the machine changed hands. Nobody is admitted until a boot is expected with revoke"`
	Incumbent  *Incumbent `json:"incumbent,omitempty"`
	Claims     []Claim    `json:"claims" nullable:"false" doc:"Those that wait: with evidence, and at most four of the others"`
	Codes      []string   `json:"codes,omitempty" doc:"That were entered or seen on the console, and whose claims have not asked since and are not listed"`
	Alarms     []Alarm    `json:"alarms" nullable:"false" doc:"Those that no operator has acknowledged"`
}

// AdmissionList is the nodes that somebody claims to be and is not admitted as.
type AdmissionList struct {
	Level        string      `json:"level" enum:"open,expected,proven,attested" doc:"That the site requires of every node"`
	RivalSeconds int64       `json:"rival_seconds" doc:"How long secrets are withheld at level expected"`
	Items        []Admission `json:"items" nullable:"false"`
}

// ExpectSpec makes a boot of a node expected.
type ExpectSpec struct {
	By       string `json:"by" pattern:"^[a-z0-9][a-z0-9._:-]{0,63}$" example:"power" doc:"The act"`
	Seconds  int64  `json:"seconds" minimum:"10" maximum:"86400" example:"900"`
	SledOnly bool   `json:"sled_only,omitempty" doc:"Open no window for a node whose boot script boots its local disk"`
	Revoke   bool   `json:"revoke,omitempty" doc:"The machine was reset or has lost its power: whoever was admitted, each claim, code and ticket of before ends"`
	Power    string `json:"power,omitempty" maxLength:"512" doc:"Also add the event power, with this detail" example:"on"`
}

// CodeSpec names a claim.
type CodeSpec struct {
	Code string `json:"code" minLength:"8" maxLength:"16" example:"K7QF-2M9D"`
}

// AdmitSpec admits a claim.
type AdmitSpec struct {
	CodeSpec
	Unseen bool `json:"unseen,omitempty" doc:"The code was not read from the machine: this counts as level expected"`
}

// TicketToken proves one claim of a node.
type TicketToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
}

// Claims lists the nodes with claims that wait, and the level of the site.
func (c *Client) Claims(ctx context.Context) (AdmissionList, error) {
	var list AdmissionList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/claims"}, &list)
	return list, err
}

// Admission returns who claims to be a node, and who is admitted.
func (c *Client) Admission(ctx context.Context, node string) (Admission, error) {
	return c.admission(ctx, http.MethodGet, node, "admission", nil)
}

// Expect makes a boot of a node expected.
func (c *Client) Expect(ctx context.Context, node string, spec ExpectSpec) (Admission, error) {
	return c.admission(ctx, http.MethodPost, node, "expect", spec)
}

// Admit admits a claim.
func (c *Client) Admit(ctx context.Context, node string, spec AdmitSpec) (Admission, error) {
	return c.admission(ctx, http.MethodPost, node, "admit", spec)
}

// Refuse ends a claim.
func (c *Client) Refuse(ctx context.Context, node, code string) (Admission, error) {
	return c.admission(ctx, http.MethodPost, node, "refuse", CodeSpec{Code: code})
}

// Revoke ends the admission of a node.
func (c *Client) Revoke(ctx context.Context, node string) (Admission, error) {
	return c.admission(ctx, http.MethodPost, node, "revoke", nil)
}

// Ack acknowledges the alarms of a node that were counted last at a time or before.
func (c *Client) Ack(ctx context.Context, node string, until time.Time) (Admission, error) {
	return c.admission(ctx, http.MethodPost, node, "alarms/ack", AckSpec{Until: until})
}

// Ticket makes a token that proves one claim of a node.
func (c *Client) Ticket(ctx context.Context, node string) (TicketToken, error) {
	var ticket TicketToken
	address, err := path("nodes", node)
	if err != nil {
		return ticket, err
	}
	err = c.call(ctx, request{method: http.MethodPost, path: address + "/tickets"}, &ticket)
	return ticket, err
}

func (c *Client) admission(ctx context.Context, method, node, act string, body any) (Admission, error) {
	var answer Admission
	address, err := path("nodes", node)
	if err != nil {
		return answer, err
	}
	err = c.call(ctx, request{method: method, path: address + "/" + act, body: body}, &answer)
	return answer, err
}
