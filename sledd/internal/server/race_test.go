// SPDX-License-Identifier: Apache-2.0

//go:build race

package server_test

// manyPolls is the number of machines that wait in TestManyLongPollsAreAllAnswered: the race
// detector makes each several times as expensive.
const manyPolls = 200
