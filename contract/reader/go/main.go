// SPDX-License-Identifier: Apache-2.0

// Command go reads an image by ../../image.md alone, without libzstd.
//
//	go [-digest sha256:...] [-chunks] [-raw OUT] FILE
//
// It checks every byte of the file; with -chunks it leaves out the gap frames, as a reader of chunks
// does. -raw writes the disk. Exit code 2, 3 or 5 as in ../../exit-codes.md; 1 if a file cannot be read.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

type options struct {
	digest, raw string
	chunks      bool
}

func main() {
	var o options
	flag.StringVar(&o.digest, "digest", "", "that it must have, as sha256:<hex>")
	flag.StringVar(&o.raw, "raw", "", "write the disk here")
	flag.BoolVar(&o.chunks, "chunks", false, "do not read gap frames")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	err := run(flag.Arg(0), o)
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", flag.Arg(0), err)
	}
	os.Exit(codeOf(err))
}

func codeOf(err error) int {
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return refused.code
	case err != nil:
		return 1
	}
	return 0
}

func run(path string, o options) (err error) {
	file, err := os.Open(path) //nolint:gosec // the file that the caller names
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	image, err := openImage(source{file, size}, o.digest)
	if err != nil {
		return err
	}
	if o.raw == "" {
		return image.read(!o.chunks, nil)
	}
	out, err := os.Create(o.raw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Truncate(image.index.bytes); err != nil {
		return err
	}
	return image.read(!o.chunks, out)
}
