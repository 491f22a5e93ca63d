// SPDX-License-Identifier: Apache-2.0

//go:build race

package admission_test

// Depths of the model: the race detector makes each state several times as expensive.
const (
	modelDepth  = 8
	mutantDepth = 13
)
