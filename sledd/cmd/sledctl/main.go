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
)

// version is that of the file VERSION; make sets it: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := ctl.Run(ctx, os.Args[1:], ctl.System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, Screen: ctl.ScreenOf(os.Stdout),
		Interactive: ctl.IsTerminal(os.Stdin) && ctl.IsTerminal(os.Stderr), Version: version,
	})
	stop()
	os.Exit(code)
}
