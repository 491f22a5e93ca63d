// SPDX-License-Identifier: Apache-2.0

package operand_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

func TestValuesSurvive(t *testing.T) {
	every := ""
	for c := 1; c < 256; c++ {
		every += string([]byte{byte(c)})
	}
	for _, value := range []string{"", "plain-._~:/,@+;*", "100% \"quoted\" é\n", every} {
		text, err := operand.Encode(operand.Line{Word: "wipe", Operands: []operand.Pair{{Key: "disk", Value: value}}})
		if err != nil {
			t.Fatal(err)
		}
		line, err := operand.Parse(text)
		if got, _ := line.Get("disk"); err != nil || got != value || strings.ContainsAny(text, "\n\"$`") {
			t.Errorf("%q became %q: %v", value, text, err)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, value := range []string{"a\x00b", strings.Repeat("a", operand.MaxValue+1),
		strings.Repeat(" ", operand.MaxValue)} {
		if text, err := operand.Encode(operand.Line{Word: "w",
			Operands: []operand.Pair{{Key: "k", Value: value}}}); err == nil {
			t.Errorf("%d bytes were written as %d", len(value), len(text))
		}
	}
	for _, text := range []string{"", "Wipe", "w ", "w  a=b", "w a", "w =b", "w a=b a=c", "w a=%", "w a=%4", "w a=%zz",
		"w a=%00", "w a=\"", "w\ta=b", "w a=" + strings.Repeat("x", 2049), "w " + strings.Repeat("k", 33) + "=v"} {
		if line, err := operand.Parse(text); err == nil {
			t.Errorf("%.40q was read as %+v", text, line)
		}
	}
	for _, body := range []string{"", "a", "a\n\nb", strings.Repeat("a\n", 5),
		strings.Repeat("a", operand.MaxLine) + "\n"} {
		if lines, err := operand.Lines(body, 4); err == nil {
			t.Errorf("%.20q was cut into %d lines", body, len(lines))
		}
	}
}
