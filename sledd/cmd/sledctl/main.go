// SPDX-License-Identifier: Apache-2.0

// Command sledctl is sledd's operator API for people.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/ctl"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// version is that of the file VERSION; make sets it: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	code := ctl.Run(ctx, os.Args[1:], ctl.System{
		Printer: show.Printer{Out: os.Stdout, Err: os.Stderr, Now: time.Now, Screen: show.ScreenOf(os.Stdout)},
		In:      os.Stdin, Getenv: os.Getenv, Version: version, Signals: signals,
		Interactive: show.IsTerminal(os.Stdin) && show.IsTerminal(os.Stderr),
	})
	stop()
	os.Exit(code)
}
