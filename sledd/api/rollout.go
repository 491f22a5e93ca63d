// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RolloutSpec describes a rollout: its nodes and its waves. Numbers of nodes are counts ("2") or percentages ("25%" of
// all nodes of the rollout, rounded up for sizes and down for budgets). Each node that it still has to image or wipe
// counts for its limits, which are those of the newest request: a rollout is resumed with others.
type RolloutSpec struct {
	Nodes          []string       `json:"nodes" doc:"Names or MACs, in the order of imaging" minItems:"1" maxItems:"10000" nullable:"false"`
	Desired        string         `json:"desired" doc:"The desired state of all nodes, as a text for people; another text is another rollout" minLength:"1" maxLength:"512" example:"image debian-12-v2"`
	Canary         string         `json:"canary,omitempty" doc:"Size of the first wave; one failure in it stops the rollout. Default 0: no canary" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"1"`
	Batch          string         `json:"batch,omitempty" doc:"Size of each further wave. Default 100%" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"25%"`
	MaxUnavailable map[string]int `json:"max_unavailable,omitempty" doc:"Limits by label: at most this many nodes with the same value of the label in one wave" example:"{\"rack\":4}"`
	FailureBudget  string         `json:"failure_budget,omitempty" doc:"Number of nodes that may fail; one more stops the rollout. Default 0" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"25%"`
	Pause          int            `json:"pause,omitempty" doc:"Seconds between two waves" minimum:"0" maximum:"86400"`
	Limits
	Memory []string `json:"memory,omitempty" maxItems:"10000" doc:"Those of nodes, by the same name or MAC, whose disks are left as they are, since their image runs from memory: outlook of a dry run of their bindings. They count for no limit. Not stored" nullable:"false"`
	// Command is for people: it resumes the rollout.
	Command []string `json:"command,omitempty" maxItems:"64" doc:"Words of the command that sent the newest request, which resumes the rollout. Values that may be secret are left out" nullable:"false"`
	Again   bool     `json:"again,omitempty" doc:"Image each node even if its binding is satisfied; once, however often the rollout is resumed"`
}

// RolloutState is the state of a rollout.
type RolloutState string

// The states of a rollout.
const (
	RolloutRunning RolloutState = "running" // the next wave may start
	RolloutStopped RolloutState = "stopped" // failures stopped it; the same request resumes it
	RolloutDone    RolloutState = "done"    // every node is done, or failed within the budget
	RolloutAborted RolloutState = "aborted" // an operator aborted it
)

// Rollout is a stored rollout with its nodes.
type Rollout struct {
	RolloutSpec
	Name    string       `json:"name" example:"reimage-7"`
	Kind    string       `json:"kind" doc:"Kind of work on the nodes; prefix of the name" example:"reimage"`
	Waves   [][]string   `json:"waves" doc:"Names of the nodes of each wave; the first wave is the canary, if requested" nullable:"false"`
	State   RolloutState `json:"state" enum:"running,stopped,done,aborted"`
	Reason  Prose        `json:"reason,omitzero" doc:"Why it was stopped or aborted"`
	Owner   string       `json:"owner,omitempty" doc:"Operator who started it"`
	Started time.Time    `json:"started"`
	Resumed int          `json:"resumed,omitempty" doc:"How often it was resumed"`
	Ended   time.Time    `json:"ended,omitzero"`
	Seen    time.Time    `json:"seen" doc:"Time of the last request of the runner"`
	Silent  int          `json:"silent,omitempty" doc:"Seconds since the last request of the runner, if it is running and they are 60 or more: nobody follows it"`
	Runs    []NodeRun    `json:"runs,omitempty" doc:"One for each node, in order; not in lists" nullable:"false"`
	Counts  RolloutCount `json:"counts"`
}

// RolloutCount is the number of nodes of a rollout in each state.
type RolloutCount struct {
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// RunState is the state of a node of a rollout.
type RunState string

// The states of a node of a rollout.
const (
	RunWaiting RunState = "waiting"
	RunRunning RunState = "running"
	RunDone    RunState = "done"
	RunFailed  RunState = "failed"
)

// NodeRunSpec is what the runner of a rollout reports of one node.
type NodeRunSpec struct {
	State       RunState `json:"state" enum:"running,done,failed" doc:"done is refused unless the binding of the node is satisfied; failed needs a reason"`
	EntryMethod string   `json:"entry_method,omitempty" enum:"idle,warm,power,wol,manual" doc:"Entry method into the Sled system"`
	Reason      string   `json:"reason,omitempty" maxLength:"2048"`
}

// NodeRunItem is a NodeRunSpec of one of many nodes.
type NodeRunItem struct {
	Node string `json:"node" minLength:"1" maxLength:"64" pattern:"^[0-9A-Za-z][0-9A-Za-z:-]*$" doc:"MAC (with colons or hyphens) or name" example:"n1"`
	NodeRunSpec
}

// NodeRunItems is what the runner of a rollout reports of many nodes.
type NodeRunItems struct {
	Items []NodeRunItem `json:"items" minItems:"1" maxItems:"10000" nullable:"false"`
}

// NodeRun is one node of a rollout.
type NodeRun struct {
	Node        string            `json:"node"`
	MAC         string            `json:"mac"`
	Labels      map[string]string `json:"labels,omitempty"`
	Wave        int               `json:"wave" doc:"From 1"`
	State       RunState          `json:"state" enum:"waiting,running,done,failed"`
	EntryMethod string            `json:"entry_method,omitempty" enum:"idle,warm,power,wol,manual" doc:"Entry method into the Sled system"`
	Reason      Prose             `json:"reason,omitzero"`
	From        int64             `json:"from" doc:"Generation of its binding before its start: a higher one now was made by this rollout"`
	Generation  int64             `json:"generation,omitempty" doc:"Generation of its binding at its end"`
	Attempts    int               `json:"attempts,omitempty" doc:"Number of starts"`
	Begin       time.Time         `json:"begin,omitzero" doc:"Start of the last attempt"`
	End         time.Time         `json:"end,omitzero"`
	Stages      []Stage           `json:"stages,omitempty" doc:"Stages of its timeline at its end"`
	Start       string            `json:"start,omitempty" enum:"kexec,reboot,fallback,memory" doc:"How its system was started"`
	Log         Raw               `json:"log,omitzero" doc:"Last lines of its log, if it failed"`
}

// RunResult is the node of one item, or why the item was refused.
type RunResult struct {
	Run     *NodeRun `json:"run,omitempty"`
	Refused string   `json:"refused,omitempty" doc:"Why nothing was recorded of this node"`
}

// RunsAnswer is the response to NodeRunItems: the rollout without its nodes, and a result for each item, in order.
type RunsAnswer struct {
	Rollout Rollout     `json:"rollout"`
	Items   []RunResult `json:"items" nullable:"false"`
}

// RolloutList is the list of the newest rollouts, newest first, without their nodes.
type RolloutList struct {
	Items []Rollout `json:"items" nullable:"false"`
}
