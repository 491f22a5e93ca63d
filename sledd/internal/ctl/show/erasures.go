// SPDX-License-Identifier: Apache-2.0

package show

import (
	"strconv"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// ErasureColumns are the columns of a list of erase records.
var ErasureColumns = []Column[api.Erasure]{
	Col("number", func(r api.Erasure) string { return strconv.FormatInt(r.Number, 10) }),
	Col("time", func(r api.Erasure) string { return wording.Time(r.Time) }).Wraps(10),
	Col("node", func(r api.Erasure) string { return wording.Clean(r.Node) }).Wraps(12),
	Col("serial", func(r api.Erasure) string { return r.Serial.String() }).Wraps(8),
	Col("disk", func(r api.Erasure) string { return r.Disk.String() }).Spare(),
	Col("size", func(r api.Erasure) string { return wording.Bytes(r.Bytes) }).Spare(),
	Col("result", func(r api.Erasure) string { return r.Result }),
	Col("level", func(r api.Erasure) string { return r.Level }),
	Col("method", func(r api.Erasure) string { return r.Method }),
	Col("verify", func(r api.Erasure) string { return r.Verify }).Spare(),
}
