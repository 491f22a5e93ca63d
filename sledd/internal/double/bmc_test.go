// SPDX-License-Identifier: Apache-2.0

package double

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

const testMAC = "52:54:00:77:00:01"

func newBMC(t *testing.T, settings BMC) *bmc {
	t.Helper()
	dir := t.TempDir()
	everything := []byte("server: http://127.0.0.1:1\n")
	if err := os.WriteFile(filepath.Join(dir, "defaults.yaml"), everything, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bmc{dir: dir, mac: testMAC, settings: settings}
	t.Cleanup(b.cut)
	return b
}

// ask sends one request and returns the state of the system after it.
func ask(t *testing.T, b *bmc, method, path, body string) (power, target string) {
	t.Helper()
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	if answer.Code/100 != 2 {
		t.Fatalf("%s %s: %d: %s", method, path, answer.Code, answer.Body)
	}
	answer = httptest.NewRecorder()
	b.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, system, nil))
	var state struct {
		PowerState string
		Boot       override
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &state); err != nil {
		t.Fatal(err)
	}
	return state.PowerState, state.Boot.Target
}

func press(t *testing.T, b *bmc, kind string) (power, target string) {
	t.Helper()
	return ask(t, b, http.MethodPost, reset, `{"ResetType": "`+kind+`"}`)
}

func flag(t *testing.T, b *bmc) string {
	t.Helper()
	_, target := ask(t, b, http.MethodPatch, system, `{"Boot": {"BootSourceOverrideTarget": "Pxe"}}`)
	return target
}

func TestFlagIsForOneBoot(t *testing.T) {
	b := newBMC(t, BMC{})
	if target := flag(t, b); target != "Pxe" {
		t.Errorf("the flag reads %q", target)
	}
	if power, target := press(t, b, "On"); power != "On" || target != "None" {
		t.Errorf("after the boot: %s, %s", power, target)
	}
	press(t, b, "ForceOff")
	press(t, b, "On")
	if got := strings.Join(b.seen.From, ","); got != "pxe," || b.seen.Most != 1 {
		t.Errorf("booted from %q, %d requests at once", got, b.seen.Most)
	}
}

func TestFlagThatDies(t *testing.T) {
	b := newBMC(t, BMC{FlagSeconds: 60, FlagEndsOff: true})
	flag(t, b)
	b.flagged = time.Now().Add(-61 * time.Second)
	press(t, b, "On")
	flag(t, b)
	if power, target := press(t, b, "ForceOff"); power != "Off" || target != "None" {
		t.Errorf("after power-off: %s, %s", power, target)
	}
	if b.seen.From[0] != "" {
		t.Errorf("a flag of 61 s booted %q", b.seen.From[0])
	}
}

func TestOffThatTakesLong(t *testing.T) {
	b := newBMC(t, BMC{OffSeconds: 0.05})
	press(t, b, "On")
	if power, _ := press(t, b, "ForceOff"); power != "On" {
		t.Errorf("at once: %s", power)
	}
	patience.Until(t, "power is off", func() bool {
		power, _ := ask(t, b, http.MethodGet, system, "")
		return power == "Off"
	})
}

func TestLyingBMC(t *testing.T) {
	b := newBMC(t, BMC{Lies: true})
	if power, _ := press(t, b, "On"); power != "Off" || len(b.seen.On) != 0 {
		t.Errorf("power is %s, %d power-ons", power, len(b.seen.On))
	}
}

func TestAProgramIsTheMachine(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	b := newBMC(t, BMC{Program: []string{"sh", "-c", `echo "$1" >>` + said + `; exec sleep 600`, "sh"}})
	press(t, b, "On")
	press(t, b, "ForceOff") // kills it
	flag(t, b)
	if power, _ := press(t, b, "On"); power != "On" {
		t.Errorf("it is %s", power)
	}
	patience.Until(t, "the program runs again", func() bool {
		text, _ := os.ReadFile(said)
		return strings.HasSuffix(string(text), "pxe\n")
	})
}

func TestButtonsSwitchWithoutTheBMC(t *testing.T) {
	b := newBMC(t, BMC{})
	handler := buttons{testMAC: b}.handler()
	push := func(path string, want int) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, nil))
		if answer.Code != want {
			t.Errorf("POST %s: %d, want %d", path, answer.Code, want)
		}
	}
	push("/"+testMAC+"/on?from=pxe", http.StatusNoContent)
	push("/"+testMAC+"/on?from=disk", http.StatusNoContent) // it is on
	push("/"+testMAC+"/off", http.StatusNoContent)
	if b.stop != nil {
		t.Error("it is on after off")
	}
	push("/"+testMAC+"/on?from=disk", http.StatusNoContent)
	push("/52:54:00:77:00:99/on", http.StatusNotFound)
	if got := strings.Join(b.seen.From, ","); got != "pxe,disk" {
		t.Errorf("booted from %q", got)
	}
}
