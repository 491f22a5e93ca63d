// SPDX-License-Identifier: Apache-2.0

//go:build !race

package server_test

// manyPolls is how many machines wait in TestManyLongPollsAreAllAnswered.
const manyPolls = 1000
