// SPDX-License-Identifier: Apache-2.0

// Package double is a machine without hardware: it fetches its boot script, follows plans, reports,
// and confirms as a node does, and fails where its settings request it. Tests of fleets run
// hundreds where a real one would fill the machine.
package double

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// Settings of one double: DIR/defaults.yaml, then DIR/<mac>.yaml; the latter's values win. Both may
// be missing, except that the server is required. A step whose verb is in DIR/<mac>.hold ends when that file is gone.
type Settings struct {
	Server string `json:"server"` // base URLs of sledd, joined by commas
	CA     string `json:"ca"`     // PEM file; empty: the system's
	Boot   string `json:"boot"`   // base URLs of the boot scripts; empty: those of sledd

	StepSeconds float64 `json:"step_seconds"` // that each step takes
	Hurry       float64 `json:"hurry"`        // progress is reported so many times as often as requested; 0: 1
	BootSeconds float64 `json:"boot_seconds"` // firmware, and the start of an installed system

	Fail         Fail `json:"fail"`
	HangAtKexec  int  `json:"hang_at_kexec"`  // so many kexecs never confirm
	HangAtReboot int  `json:"hang_at_reboot"` // so many starts of the installed disk never confirm

	Kernel  Kernel  `json:"kernel"`
	Payload Payload `json:"payload"`
	Cut     Cut     `json:"cut"`

	Disk string            `json:"disk"` // its serial
	DMI  map[string]string `json:"dmi"`  // operands of the fact dmi

	BMC BMC `json:"bmc"` // in a rack
	SSH SSH `json:"ssh"`
}

// Fail is the step that fails.
type Fail struct {
	Step   string `json:"step"` // its verb; empty: none
	Code   int    `json:"code"` // of contract/exit-codes.md
	Times  int    `json:"times"`
	Reason string `json:"reason"`
}

// Kernel is that of jobs.
type Kernel struct {
	Release string `json:"release"`
	Hangs   int    `json:"hangs"` // so many starts of it never come up
}

// Machine is where a double keeps what a machine has: its settings, its disk, its power button.
type Machine struct {
	Dir, MAC string // with colons
	Settings Settings

	Transport http.RoundTripper // of its requests; nil: a separate one
	Confirmed func()            // called when it is operational; nil: nobody
}

// Open reads a machine's settings.
func Open(dir, address string) (*Machine, error) {
	address, err := mac.Parse(address)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the address
	}
	m := &Machine{Dir: dir, MAC: address}
	for _, file := range []string{filepath.Join(dir, "defaults.yaml"), m.path("yaml")} {
		text, err := os.ReadFile(file) //nolint:gosec // named by whoever runs it
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		if err := yaml.UnmarshalStrict(text, &m.Settings); err != nil {
			return nil, fmt.Errorf("settings %s: %w", file, err)
		}
	}
	if m.Settings.Server == "" {
		return nil, fmt.Errorf("settings of %s: server is not set, neither in defaults.yaml nor in %s.yaml of %s: "+
			"want the URL of sledd", address, mac.Hyphens(address), dir)
	}
	return m, nil
}

// path of a file of this machine.
func (m *Machine) path(extension string) string {
	return filepath.Join(m.Dir, mac.Hyphens(m.MAC)+"."+extension)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
