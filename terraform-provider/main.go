// SPDX-License-Identifier: Apache-2.0

// Terraform-provider-sled serves the provider to Terraform and OpenTofu (protocol 6).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/sled-fleet/sled/terraform-provider/internal/provider"
)

// version is set by the build.
var version = "0.0.0-dev"

func main() {
	debug := flag.Bool("debug", false, "let a debugger attach: print what to set TF_REATTACH_PROVIDERS to")
	flag.Parse()
	quiet()
	spare()
	options := providerserver.ServeOpts{Address: "registry.terraform.io/sled-fleet/sled", Debug: *debug}
	if err := providerserver.Serve(context.Background(), provider.New(version), options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// quiet turns the framework's own log off, unless a log was requested. For each value of a resource it looks for
// its logger through all values before: a map of 10,000 machines takes half a minute of that. A level that is set
// spares it the search.
func quiet() {
	const framework = "TF_LOG_SDK_FRAMEWORK"
	for _, asked := range []string{"TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_SDK", framework} {
		if os.Getenv(asked) != "" {
			return
		}
	}
	if err := os.Setenv(framework, "off"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// spare lets the heap grow to five times what is in use before it is collected, unless GOGC is set. The provider lives
// for seconds and makes much garbage for each resource; a sixth of its CPU time was spent on that.
func spare() {
	const percent = 400
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
