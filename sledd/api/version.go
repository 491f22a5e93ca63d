// SPDX-License-Identifier: Apache-2.0

package api

// Version is which sledd answers.
type Version struct {
	Version string `json:"version" doc:"Release of sledd, or dev" example:"0.1.0"`
}
