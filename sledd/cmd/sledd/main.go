// SPDX-License-Identifier: Apache-2.0

// Command sledd is the control plane of Sled: it stores nodes, images and bindings, and serves boot
// scripts and plans to nodes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version is that of the file VERSION; make sets it: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sledd:", err)
		os.Exit(1)
	}
}
