// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RolloutSpec says how many nodes are brought to their wishes: which, and in what waves. Numbers of nodes are counts ("2") or percents
// ("25%", of all nodes of the rollout, rounded up for sizes and down for budgets).
type RolloutSpec struct {
	Nodes          []string       `json:"nodes" doc:"Names or MACs, in the order in which they are to be done" minItems:"1" maxItems:"10000" nullable:"false"`
	Wish           string         `json:"wish" doc:"What all of them are to get, for people; a rollout of another wish is another rollout" minLength:"1" maxLength:"512" example:"image debian-12-v2"`
	Canary         string         `json:"canary,omitempty" doc:"Nodes of the first wave; one failure in it stops the rollout. Default 0: no canary" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"1"`
	Batch          string         `json:"batch,omitempty" doc:"Nodes of each wave after it. Default 100%" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"25%"`
	MaxUnavailable map[string]int `json:"max_unavailable,omitempty" doc:"Name of a label to the most nodes with one value of it that one wave may hold" example:"{\"rack\":4}"`
	FailureBudget  string         `json:"failure_budget,omitempty" doc:"Nodes that may fail; one more stops the rollout. Default 0" pattern:"^([0-9]{1,5}|[0-9]{1,3}%)?$" example:"25%"`
	Pause          int            `json:"pause,omitempty" doc:"Seconds between two waves" minimum:"0" maximum:"86400"`
	Again          bool           `json:"again,omitempty" doc:"Each node is imaged, also one that has its wish; once, however often the rollout is resumed"`
}

// RolloutState says whether a rollout goes on.
type RolloutState string

// The states of a rollout.
const (
	RolloutRunning RolloutState = "running" // the next wave may begin
	RolloutStopped RolloutState = "stopped" // no further wave begins: the canary failed, or more than the budget; asking for it again resumes it
	RolloutDone    RolloutState = "done"    // every node was done, or failed within the budget
	RolloutAborted RolloutState = "aborted" // an operator ended it
)

// Rollout is a stored rollout with its nodes.
type Rollout struct {
	RolloutSpec
	Name    string       `json:"name" example:"reimage-7"`
	Kind    string       `json:"kind" doc:"What is done to the nodes; the name begins with it" example:"reimage"`
	Waves   [][]string   `json:"waves" doc:"Names of the nodes of each wave; the first is the canary, if there is one" nullable:"false"`
	State   RolloutState `json:"state" enum:"running,stopped,done,aborted"`
	Reason  string       `json:"reason,omitempty" doc:"Why it was stopped"`
	Owner   string       `json:"owner,omitempty" doc:"Operator who began it"`
	Begun   time.Time    `json:"begun"`
	Resumed int          `json:"resumed,omitempty" doc:"How often it was resumed"`
	Ended   time.Time    `json:"ended,omitzero"`
	Seen    time.Time    `json:"seen" doc:"When whoever runs it last said something"`
	Runs    []NodeRun    `json:"runs,omitempty" doc:"One a node, in order; not in lists" nullable:"false"`
	Counts  RolloutCount `json:"counts"`
}

// RolloutCount is how many nodes of a rollout are where.
type RolloutCount struct {
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// RunState is where a node of a rollout is.
type RunState string

// The states of a node of a rollout.
const (
	RunWaiting RunState = "waiting"
	RunRunning RunState = "running"
	RunDone    RunState = "done"
	RunFailed  RunState = "failed"
)

// NodeRunSpec is what whoever runs a rollout says of one node.
type NodeRunSpec struct {
	State  RunState `json:"state" enum:"running,done,failed" doc:"done is taken only of a node that has its wish; failed needs a reason"`
	Way    string   `json:"way,omitempty" enum:"idle,warm,power,wol,manual" doc:"How it came into the Sled system"`
	Reason string   `json:"reason,omitempty" maxLength:"2048"`
}

// NodeRun is one node of a rollout.
type NodeRun struct {
	Node       string            `json:"node"`
	MAC        string            `json:"mac"`
	Labels     map[string]string `json:"labels,omitempty"`
	Wave       int               `json:"wave" doc:"From 1"`
	State      RunState          `json:"state" enum:"waiting,running,done,failed"`
	Way        string            `json:"way,omitempty" enum:"idle,warm,power,wol,manual" doc:"How it came into the Sled system"`
	Reason     string            `json:"reason,omitempty"`
	From       int64             `json:"from" doc:"Generation of its wish before it was begun: a higher one now is this rollout's own"`
	Generation int64             `json:"generation,omitempty" doc:"Of its wish when it ended"`
	Attempts   int               `json:"attempts,omitempty" doc:"How often it was begun"`
	Begin      time.Time         `json:"begin,omitzero" doc:"Of its newest attempt"`
	End        time.Time         `json:"end,omitzero"`
	Stages     []Stage           `json:"stages,omitempty" doc:"Of its timeline, when it ended"`
	Start      string            `json:"start,omitempty" enum:"kexec,reboot,fallback" doc:"How its system was started"`
	Log        string            `json:"log,omitempty" doc:"Last lines of what it logged, when it failed"`
}

// RunAnswer is what became of a rollout, without its nodes, and of one node of it.
type RunAnswer struct {
	Rollout Rollout `json:"rollout"`
	Run     NodeRun `json:"run"`
}

// RolloutList is the newest rollouts, newest first, without their nodes.
type RolloutList struct {
	Items []Rollout `json:"items" nullable:"false"`
}
