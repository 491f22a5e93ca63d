// SPDX-License-Identifier: Apache-2.0

package api

// Energy is what a node drew while the payload of its job ran, by a meter that is read from outside.
type Energy struct {
	Joules  *float64 `json:"joules,omitempty" minimum:"0" doc:"Energy, in J; absent: the readings are too few for a figure, as the reason states" example:"151230"`
	Least   *float64 `json:"least,omitempty" minimum:"0" doc:"The least that the readings allow; absent, as most: readings are missing" example:"148110"`
	Most    *float64 `json:"most,omitempty" minimum:"0" doc:"The most that the readings allow" example:"155020"`
	Refresh float64  `json:"refresh,omitempty" minimum:"0" doc:"Observed seconds between two changes of the reading" example:"2"`
	Source  Prose    `json:"source" minLength:"1" maxLength:"300" doc:"Power control whose meter was read" example:"ipmi 10.30.0.101:623"`
	Reason  Prose    `json:"reason,omitzero" maxLength:"1000" doc:"Why there is no figure"`
}
