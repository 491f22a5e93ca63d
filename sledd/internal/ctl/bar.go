// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	barFull  = "━"
	barEmpty = "─"
)

// bar draws done of total in width cells; the bar of an unknown total is empty.
func bar(done, total int64, width int) string {
	full := 0
	if total > 0 {
		full = int(min(max(done, 0), total) * int64(width) / total)
	}
	return strings.Repeat(barFull, full) + strings.Repeat(barEmpty, width-full)
}

func percent(p *api.Progress) int64 {
	if p.Total <= 0 {
		return 0
	}
	return min(max(p.Bytes, 0), p.Total) * 100 / p.Total
}

// timeLeft is the estimated remaining time of the step; empty if unknown.
func timeLeft(p *api.Progress) string {
	if p.Rate <= 0 || p.Total <= p.Bytes {
		return ""
	}
	return clock(time.Duration(float64(p.Total-p.Bytes)/float64(p.Rate)*float64(time.Second))) + " left"
}

// clock formats a duration as [H:]M:SS.
func clock(d time.Duration) string {
	seconds := int(max(d, 0).Round(time.Second).Seconds())
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// fit cuts or pads words to width cells, not counting colours.
func fit(words string, width int) string {
	if text.StringWidthWithoutEscSequences(words) > width {
		words = text.Snip(words, width, "…")
	}
	return text.Pad(words, width, ' ')
}
