// SPDX-License-Identifier: Apache-2.0

//go:build !race

package admission_test

// Depths of the model. Every mutant is found within the smaller one, for which see mutants_test.go.
const (
	modelDepth  = 12
	mutantDepth = 13
)
