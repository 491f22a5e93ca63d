// SPDX-License-Identifier: Apache-2.0

package show

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// AuditColumns are the columns of a list of changes.
var AuditColumns = []Column[api.AuditRecord]{
	Col("time", func(r api.AuditRecord) string { return wording.Time(r.Time) }),
	Col("operator", func(r api.AuditRecord) string { return r.Operator }).Wraps(8),
	Col("role", func(r api.AuditRecord) string { return string(r.Role) }).Spare(),
	Col("from", func(r api.AuditRecord) string { return wording.Clean(r.From) }),
	Col("via", func(r api.AuditRecord) string { return r.Via }).Spare(),
	Col("method", func(r api.AuditRecord) string { return r.Method }),
	Col("path", func(r api.AuditRecord) string { return wording.Clean(r.Path) }).Wraps(16),
	Col("status", func(r api.AuditRecord) string { return strconv.Itoa(r.Status) }),
	Col("refused", func(r api.AuditRecord) string {
		if r.Refused == 0 {
			return ""
		}
		return strconv.Itoa(r.Refused)
	}),
}

// BindingColumns returns the columns of a list of bindings.
func (p *Printer) BindingColumns() []Column[api.Binding] {
	return []Column[api.Binding]{
		Col("node", func(b api.Binding) string { return b.Node }).Wraps(12),
		Col("mac", func(b api.Binding) string { return b.MAC }).Spare(),
		Col("image", wording.Request).Wraps(16),
		Col("generation", func(b api.Binding) string { return strconv.FormatInt(b.Generation, 10) }),
		Col("satisfied", func(b api.Binding) string { return wording.YesNo(b.Satisfied) }),
		Col("disk", func(b api.Binding) string { return b.Disk }).Wraps(12).Spare(),
		Col("boot", func(b api.Binding) string { return b.Boot }).Spare(),
		Col("updated", func(b api.Binding) string { return wording.Time(b.Updated) }).Wraps(10),
	}
}

// Image prints one image.
func (p *Printer) Image(i api.Image) {
	rows := wording.Declared(attribute.Image, i.ImageSpec, map[string]string{"kind": i.Holds()})
	p.Section("image", append(rows, [2]string{"created", wording.Time(i.Created)}))
}

// ImageColumns returns the columns of a list of images.
func (p *Printer) ImageColumns() []Column[api.Image] {
	return []Column[api.Image]{
		Col("name", func(i api.Image) string { return i.Name }).Wraps(20),
		Col("kind", func(i api.Image) string { return i.KindText() }),
		Col("size", func(i api.Image) string { return wording.Bytes(i.Bytes) }),
		Col("file", func(i api.Image) string { return wording.Bytes(i.FileBytes) }),
		Col("used", func(i api.Image) string { return wording.Used(i) }),
		Col("signed", func(i api.Image) string { return wording.YesNo(i.Signature != "") }),
		Col("architecture", func(i api.Image) string { return i.Architecture }).Spare(),
		Col("digest", func(i api.Image) string { return wording.ShortDigest(i.Digest) }).Spare(),
		Col("created", func(i api.Image) string { return wording.Time(i.Created) }).Wraps(10),
		Col("labels", func(i api.Image) string { return wording.Labels(i.Labels) }).Wraps(12).Spare(),
	}
}

// KexecColumns returns the columns of a list of models.
func (p *Printer) KexecColumns() []Column[api.KexecModel] {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []Column[api.KexecModel]{
		Col("vendor", func(m api.KexecModel) string { return m.Vendor.String() }).Wraps(8),
		Col("product", func(m api.KexecModel) string { return m.Product.String() }).Wraps(8),
		Col("nodes", func(m api.KexecModel) string { return strconv.Itoa(m.Nodes) }),
		Col("attempts", func(m api.KexecModel) string { return number(m.Attempts) }),
		Col("confirmed", func(m api.KexecModel) string { return number(m.Confirmed) }),
		Col("missed", func(m api.KexecModel) string { return number(m.Missed) }),
		Col("rate", func(m api.KexecModel) string { return wording.SuccessRate(m.Rate) }),
		Col("last", func(m api.KexecModel) string { return m.Last }).Spare(),
		Col("when", func(m api.KexecModel) string { return wording.Age(p.Now(), m.Time) }).Spare(),
		Col("payloads", func(m api.KexecModel) string { return m.Payloads.String() }).Spare(),
	}
}

// QuirkColumns are the columns of a list of quirks.
var QuirkColumns = []Column[api.Quirk]{
	Col("match", func(q api.Quirk) string { return wording.QuirkMatch(q.Match) }).Wraps(16),
	Col("reason", func(q api.Quirk) string { return wording.Clean(q.Reason) }).Wraps(16),
	Col("source", func(q api.Quirk) string { return wording.Clean(q.Source) }).Wraps(16),
	Col("origin", func(q api.Quirk) string { return q.Origin }),
}

// expiryText is the date on which a token ends.
func expiryText(now, expires time.Time) string {
	switch {
	case expires.IsZero():
		return "never"
	case !now.Before(expires):
		return "expired"
	}
	return expires.Local().Format(time.DateOnly)
}

// lastUsedText is the hour in which a token was used last.
func lastUsedText(used time.Time) string {
	if used.IsZero() {
		return "never"
	}
	return used.Local().Format("2006-01-02 15h")
}

// OperatorColumns returns the columns of a list of operators.
func (p *Printer) OperatorColumns() []Column[api.Operator] {
	return []Column[api.Operator]{
		Col("name", func(o api.Operator) string { return o.Name }).Wraps(12),
		Col("role", func(o api.Operator) string { return string(o.Role) }),
		Col("owner", func(o api.Operator) string { return wording.Clean(o.Owner) }).Wraps(12),
		Col("expires", func(o api.Operator) string { return expiryText(p.Now(), o.Expires) }),
		Col("last used", func(o api.Operator) string { return lastUsedText(o.LastUsed) }),
	}
}

// StoreRows are the facts of a store.
func StoreRows(usage api.Store) [][2]string {
	quota, inUse := "unknown", wording.Bytes(usage.InUse)
	if usage.Quota > 0 {
		quota = wording.Bytes(usage.Quota)
		inUse += fmt.Sprintf(" (%d%% of the quota)", usage.InUse*100/usage.Quota)
	}
	return [][2]string{
		{"fleet", wording.Dash(usage.Fleet)}, {"in use", inUse}, {"file", wording.Bytes(usage.Bytes)}, {"quota", quota},
		{"alarms", wording.List(usage.Alarms)}, {"refused", wording.List(usage.Refused)},
		{"newest backup", cmp.Or(wording.Time(usage.Backup), "never")},
	}
}
