// SPDX-License-Identifier: Apache-2.0

// Package sshkeys has SSH public keys for tests. Nobody has the private ones.
package sshkeys

// Keys of two operators, without comments.
const (
	Alice = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	Bob   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFdDKBPWRSHiC3O3EV9ps7z8/ApeUc3QNZCJNm4T3YZ/"
)
