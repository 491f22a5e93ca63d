// SPDX-License-Identifier: Apache-2.0

package double

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// offTime is how long a process may take to be gone after SIGKILL.
const offTime = 10 * time.Second

// The machine is on while a process holds a lock on its file `power`. The lock is taken before the
// process starts and is handed to it, so two concurrent `on` start one machine, and a process id
// that another program has by now is never killed.

// On starts the machine as a separate process, by the given program and arguments; if it is on, nothing happens.
func (m *Machine) On(program string, arguments ...string) error {
	button, taken, err := m.button()
	if err != nil || !taken {
		return err
	}
	defer button.Close()
	console, err := os.OpenFile(m.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // a log
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	defer console.Close()
	process := exec.Command(program, arguments...) //nolint:gosec,noctx // this very program; it outlives us
	process.Stdout, process.Stderr = console, console
	process.ExtraFiles = []*os.File{button}
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := process.Start(); err != nil {
		return fmt.Errorf("switch on: %w", err)
	}
	if err := button.Truncate(0); err != nil {
		return fmt.Errorf("switch on: %w", err)
	}
	_, err = button.WriteAt([]byte(strconv.Itoa(process.Process.Pid)), 0)
	return err //nolint:wrapcheck // names the file
}

// Off kills the machine's process and waits until it is gone.
func (m *Machine) Off() error {
	deadline := time.Now().Add(offTime)
	for {
		on, err := m.IsOn()
		if err != nil || !on {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s for %s to be off: its process holds %s still", offTime, m.MAC, m.path("power"))
		}
		text, err := os.ReadFile(m.path("power"))
		if err != nil {
			return fmt.Errorf("switch off: %w", err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already: the lock tells
		}
		<-time.After(5 * time.Millisecond)
	}
}

// IsOn reports whether it runs.
func (m *Machine) IsOn() (bool, error) {
	file, err := m.open()
	if err != nil {
		return false, err
	}
	defer file.Close()
	lock := whole()
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("power: lock of %s: %w", file.Name(), err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

// button opens the file and takes the lock, if nobody holds it.
func (m *Machine) button() (*os.File, bool, error) {
	file, err := m.open()
	if err != nil {
		return nil, false, err
	}
	lock := whole()
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
	if err == nil {
		return file, true, nil
	}
	_ = file.Close() // nothing was written
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("power: lock %s: %w", m.path("power"), err)
}

func (m *Machine) open() (*os.File, error) {
	file, err := os.OpenFile(m.path("power"), os.O_CREATE|os.O_RDWR, 0o644) //nolint:gosec // a process id
	if err != nil {
		return nil, fmt.Errorf("power: %w", err)
	}
	return file, nil
}

// whole is a lock that belongs to the open file: a child inherits it, and it can be queried without
// taking it.
func whole() unix.Flock_t { return unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart} }

// Bootdev chooses where the next start looks first, once: pxe or disk.
func (m *Machine) Bootdev(device string) error {
	if device != "pxe" && device != "disk" {
		return fmt.Errorf("bootdev %q: want pxe or disk", device)
	}
	return m.write("bootdev", device)
}

func (m *Machine) takeBootdev() string {
	device := m.read("bootdev")
	_ = os.Remove(m.path("bootdev"))
	return device
}

// write replaces a file of the machine whole: it may be killed at any moment.
func (m *Machine) write(extension, content string) error {
	temporary := m.path(extension + ".new")
	if err := os.WriteFile(temporary, []byte(content), 0o600); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := os.Rename(temporary, m.path(extension)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// read returns a file of the machine; empty if it does not exist.
func (m *Machine) read(extension string) string {
	text, err := os.ReadFile(m.path(extension))
	if err != nil {
		return ""
	}
	return string(text)
}

// count adds one to a counter of the machine and reports whether it was below a limit: for faults that occur a limited
// number of times.
func (m *Machine) count(what string, limit int) (bool, error) {
	n, _ := strconv.Atoi(m.read(what)) // 0 when there is none
	if n >= limit {
		return false, nil
	}
	return true, m.write(what, strconv.Itoa(n+1))
}
