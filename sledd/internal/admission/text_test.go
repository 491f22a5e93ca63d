// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/admission"
)

func parse(name, text string) error {
	if strings.HasSuffix(name, ".claim") {
		_, err := admission.ParseAnswer(text)
		return err //nolint:wrapcheck // a test
	}
	_, err := admission.ParseHello(text)
	return err //nolint:wrapcheck // a test
}

func TestVectors(t *testing.T) {
	for _, c := range vectors.Cases(t, "admission/ok", 12) {
		if err := parse(c.Name, c.Text); err != nil {
			t.Errorf("ok/%s is refused: %v", c.Name, err)
		}
	}
	for _, c := range vectors.Cases(t, "admission/bad", 50) {
		if err := parse(c.Name, c.Text); err == nil {
			t.Errorf("bad/%s is accepted", c.Name)
		}
	}
}

func TestHelloIsReadWhole(t *testing.T) {
	const digest = "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
	got, err := admission.ParseHello(vectors.Text(t, "admission/ok", "all_operands.hello"))
	want := admission.Hello{Boot: "0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e", NIC: "52:54:00:77:00:01",
		UUID: "0e8c6a52-7f0c-4f4e-9a49-6f7f0f3c2b11", Serial: "n1", System: digest, EK: digest, EKType: "ecc"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestAnswerIsWrittenAsItIsRead(t *testing.T) {
	answer := admission.Answer{Code: "K7QF-2M9D", Nonce: strings.Repeat("5f", 32), Level: admission.Proven,
		Want: []admission.Want{admission.WantConsole, admission.WantPerson}}
	text, err := answer.Text()
	want := "claim 1\nadmission code=K7QF-2M9D nonce=" + answer.Nonce + " level=proven want=console,person\n"
	if err != nil || text != want {
		t.Fatalf("got %q, %v\nwant %q", text, err, want)
	}
	if read, err := admission.ParseAnswer(text); err != nil || !reflect.DeepEqual(read, answer) {
		t.Errorf("read %+v, %v", read, err)
	}
}

func TestCodesArePrintedAndRead(t *testing.T) {
	for random, want := range map[[5]byte]string{
		{}: "0000-0000", {255, 255, 255, 255, 255}: "ZZZZ-ZZZZ", {0x9d, 0xe, 0xf1, 0x51, 0x2d}: "KM7F-2M9D"} {
		if code := admission.Code(random); code != want {
			t.Errorf("%v: got %s, want %s", random, code, want)
		}
	}
	for _, text := range []string{"K7QF-2M9D", "k7qf-2m9d", "k7qf2m9d", " K7QF2M9D\n"} {
		if code, err := admission.ParseCode(text); err != nil || code != "K7QF-2M9D" {
			t.Errorf("%q: got %q, %v", text, code, err)
		}
	}
	if code, err := admission.ParseCode("olia-0000"); err != nil || code != "011A-0000" {
		t.Errorf("letters that look like digits: got %q, %v", code, err)
	}
	for _, text := range []string{"", "K7QF", "K7QF-2M9", "K7QF-2M9DX", "U7QF-2M9D", "K7QF_2M9D"} {
		if code, err := admission.ParseCode(text); err == nil {
			t.Errorf("%q is read as %q", text, code)
		}
	}
}

func TestLevelsAreWords(t *testing.T) {
	for level := admission.Open; level <= admission.Attested; level++ {
		if read, err := admission.ParseLevel(level.String()); err != nil || read != level {
			t.Errorf("%s is read as %s, %v", level, read, err)
		}
	}
	if level, err := admission.ParseLevel("trusted"); err == nil {
		t.Errorf("an unknown level is read as %s", level)
	}
}

func FuzzTexts(f *testing.F) {
	for _, table := range []string{"admission/ok", "admission/bad"} {
		for _, c := range vectors.Cases(f, table, 12) {
			f.Add(c.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if hello, err := admission.ParseHello(text); err == nil {
			for _, value := range []string{hello.Boot, hello.NIC, hello.UUID, hello.Serial, hello.System, hello.EK} {
				if slices.ContainsFunc([]byte(value), func(c byte) bool { return c < ' ' || c > '~' }) || len(value) > 256 {
					t.Fatalf("%q was read as %+v", text, hello)
				}
			}
		}
		if answer, err := admission.ParseAnswer(text); err == nil {
			written, err := answer.Text()
			if err != nil {
				t.Fatalf("%+v cannot be written: %v", answer, err)
			}
			if again, err := admission.ParseAnswer(written); err != nil || !reflect.DeepEqual(again, answer) {
				t.Fatalf("%+v was read again as %+v, %v", answer, again, err)
			}
		}
	})
}
