// SPDX-License-Identifier: Apache-2.0

package double

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// Rack runs many machines in one process, each behind a BMC with a separate address: the machines of a
// directory whose settings have bmc.address. A machine has nothing else in common with another.
type Rack struct {
	Dir         string
	Port        int
	Certificate tls.Certificate
	Buttons     int // port on 127.0.0.1 of the power buttons; 0: there are none
}

const headerTime = 30 * time.Second // for the header of a request

// Run serves until ctx ends. Ready is called when every BMC listens.
func (r *Rack) Run(ctx context.Context, ready func(bmcs int)) error {
	addresses, err := r.addresses()
	if err != nil {
		return err
	}
	failed := make(chan error, len(addresses)+1)
	all := buttons{}
	for address, settings := range addresses {
		b := &bmc{dir: r.Dir, mac: address, settings: settings}
		defer b.cut()
		all[address] = b
		listener, err := net.Listen("tcp", net.JoinHostPort(settings.Address, fmt.Sprint(r.Port))) //nolint:noctx // at once
		if err != nil {
			return fmt.Errorf("bmc of %s: %w", address, err)
		}
		defer listener.Close()
		if settings.Silent {
			go hold(listener)
			continue
		}
		server := &http.Server{Handler: b, ReadHeaderTimeout: headerTime}
		go func() {
			failed <- server.Serve(tls.NewListener(listener, &tls.Config{
				Certificates: []tls.Certificate{r.Certificate}, MinVersion: tls.VersionTLS12}))
		}()
	}
	if r.Buttons != 0 {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(r.Buttons))) //nolint:noctx // at once
		if err != nil {
			return fmt.Errorf("buttons: %w", err)
		}
		defer listener.Close()
		server := &http.Server{Handler: all.handler(), ReadHeaderTimeout: headerTime}
		go func() { failed <- server.Serve(listener) }()
	}
	ready(len(addresses))
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("rack: %w", err)
	}
}

// hold takes connections and never answers.
func hold(listener net.Listener) {
	var held []net.Conn
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		held = append(held, connection)
		_ = held // kept, else they were closed
	}
}

// addresses returns the BMCs by MAC.
func (r *Rack) addresses() (map[string]BMC, error) {
	files, err := filepath.Glob(filepath.Join(r.Dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("rack: %w", err)
	}
	found := map[string]BMC{}
	for _, file := range files {
		address, err := mac.Parse(strings.TrimSuffix(filepath.Base(file), ".yaml"))
		if err != nil {
			continue // defaults.yaml
		}
		machine, err := Open(r.Dir, address)
		if err != nil {
			return nil, err
		}
		if machine.Settings.BMC.Address != "" {
			found[address] = machine.Settings.BMC
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("rack: no settings in %s have bmc.address: %w", r.Dir, errors.ErrUnsupported)
	}
	return found, nil
}

// execute runs a program as the machine, until ctx ends.
func execute(ctx context.Context, words []string, ended chan<- struct{}) error {
	process := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // of the settings
	process.Stdout, process.Stderr = os.Stderr, os.Stderr
	if err := process.Start(); err != nil {
		return fmt.Errorf("program: %w", err)
	}
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed
	}()
	return nil
}

// start runs the machine until ctx ends. Its settings are read at each power-on.
func start(ctx context.Context, dir, address, device string, ended chan<- struct{}) error {
	machine, err := Open(dir, address)
	if err != nil {
		return err
	}
	if device != "" {
		if err := machine.Bootdev(device); err != nil {
			return err
		}
	}
	console, err := os.OpenFile(machine.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // a log
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	go func() {
		defer close(ended)
		defer console.Close()
		_ = machine.Run(ctx, console) // its console has the reason
	}()
	return nil
}
