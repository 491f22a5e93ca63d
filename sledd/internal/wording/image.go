// SPDX-License-Identifier: Apache-2.0

package wording

import "github.com/sled-fleet/sled/sledd/api"

// Used returns the used size of the disk; empty if unknown.
func Used(i api.Image) string {
	if i.UsedBytes == 0 {
		return ""
	}
	return Bytes(i.UsedBytes)
}

// ShortDigest returns enough of a digest to compare by eye.
func ShortDigest(digest string) string {
	if len(digest) > 19 {
		return digest[:19]
	}
	return digest
}
