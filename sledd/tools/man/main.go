// SPDX-License-Identifier: Apache-2.0

// Command man writes the man pages of sledctl, one for each command, to a folder
// that exists.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/sled-fleet/sled/sledd/internal/ctl"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man VERSION FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write fills a folder that exists. The date of the pages is SOURCE_DATE_EPOCH, else today.
func write(version, folder string) error {
	header := &doc.GenManHeader{Section: "1", Source: "Sled " + version, Manual: "Sled"}
	return doc.GenManTree(ctl.Command(), header, folder)
}
