// SPDX-License-Identifier: Apache-2.0

//go:build race

package server_test

// manyPolls is how many machines wait in TestManyLongPollsAreAllAnswered: the race detector makes each several times as dear.
const manyPolls = 200
