// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// bulkSize is how many wishes go into one call.
const bulkSize = 1000

// bindFlags are the parts of a wish that flags can say.
type bindFlags struct {
	file, keyFile, userData string
	labels                  []string
	spec                    api.BindingSpec

	wipeOnly, reimage, takeOver bool
}

// bindCommand is `bind` and, under its systematic name, `binding apply`.
func (a *app) bindCommand(verb string) *cobra.Command {
	var f bindFlags
	command := &cobra.Command{
		Use: verb + " [NODE...]", Short: "Wish for an image on nodes",
		Long: `Declares which image nodes get. What no flag says stays as it was in a node's binding; -f replaces whole bindings.
A change of image, disk, hostname, user data, keys or kernel arguments images the node again at its next boot, or at once
when it waits in the Sled system. --reimage does so with nothing changed. Nothing here switches power.
A binding that belongs to an owner, such as Terraform, keeps it; the owner sees what was changed. --take-over makes it --owner's, or nobody's.
To make an image of a node's disk: sledctl image capture.`,
		Example: `  sledctl bind n1 n2 --image debian-12-v1 --keys ~/.ssh/id_ed25519.pub
  sledctl bind -l rack=a --image debian-12-v2 --mode auto
  sledctl bind n1 --wipe-only
  sledctl binding apply -f bindings.yaml`,
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			specs, err := f.specs(cmd, a, client, args)
			if err != nil {
				return err
			}
			stored, err := bindAll(cmd.Context(), client, specs, f.options()...)
			if len(stored) > 0 || err == nil {
				if shown := a.bindings().printWith(cmd.Context(), a, client, stored); err == nil {
					err = shown
				}
			}
			return err
		},
	}
	f.define(command)
	_ = command.RegisterFlagCompletionFunc("image", a.completeImages)
	for flag, words := range map[string][]string{"mode": {"full", "delta", "auto"}, "verify": {"none", "sample", "full"},
		"wipe": {"clear", "signatures"}, "boot": {"auto", "kexec", "reboot"}} {
		_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return command
}

func (f *bindFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "bindings in YAML or JSON, as `binding list -o yaml` prints them; - for standard input")
	flags.StringArrayVarP(&f.labels, "label", "l", nil, "bind all nodes with this label, KEY=VALUE (repeatable; all must hold)")
	flags.StringVar(&f.spec.Image, "image", "", "name of a registered image")
	flags.BoolVar(&f.wipeOnly, "wipe-only", false, "no image: wipe the disk and let the node wait")
	flags.BoolVar(&f.reimage, "reimage", false, "image again even if nothing changed")
	flags.StringVar(&f.spec.Disk, "disk", "", "disk selector; default: the node's")
	flags.StringVar(&f.spec.Wipe, "wipe", "", "clear (default) or signatures")
	flags.StringVar(&f.spec.Mode, "mode", "", "how the image is written: full (default), delta or auto")
	flags.StringVar(&f.spec.Verify, "verify", "", "how much is read back: none, sample (default) or full")
	flags.BoolVar(&f.spec.AllowUnsigned, "allow-unsigned", false, "take an image without a signature too; only where the site's initrd allows it")
	flags.StringVar(&f.spec.Boot, "boot", "", "how the system is started: auto (default), kexec or reboot")
	flags.StringVar(&f.spec.Hostname, "hostname", "", "default: the node's name")
	flags.StringVar(&f.keyFile, "keys", "", "file of SSH public keys, one a line")
	flags.StringVar(&f.userData, "user-data", "", "file of cloud-init user data; empty: none")
	flags.StringVar(&f.spec.Owner, "owner", "", "who declares the binding; nobody else then changes its owner or takes it back")
	flags.BoolVar(&f.takeOver, "take-over", false, "change the owner of bindings that have one: to --owner, or to nobody")
	flags.StringVar(&f.spec.KernelArguments, "kernel-arguments", "", "added to the installed kernel's own on kexec")
}

func (f *bindFlags) options() []api.Option {
	var options []api.Option
	if f.reimage {
		options = append(options, api.Reimage())
	}
	if f.takeOver {
		options = append(options, api.TakeOver())
	}
	return options
}

func (f *bindFlags) check(args []string) error {
	ways := 0
	for _, given := range []bool{len(args) > 0, f.file != "", len(f.labels) > 0} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return usagef("want NODE..., or --label KEY=VALUE, or -f FILE")
	}
	if f.wipeOnly && f.spec.Image != "" {
		return usagef("want either --image %s or --wipe-only", f.spec.Image)
	}
	if f.file != "" && (f.wipeOnly || f.spec.Image != "" || f.spec.Owner != "") {
		return usagef("--file holds whole bindings: --image, --wipe-only and --owner do not go with it")
	}
	return nil
}

// specs makes the whole wishes: of the file, or of each node's binding with what the flags change.
func (f *bindFlags) specs(cmd *cobra.Command, a *app, client *api.Client, names []string) ([]api.BindingSpec, error) {
	if f.file != "" {
		bindings, err := readObjects[api.Binding](a, f.file)
		specs := make([]api.BindingSpec, len(bindings))
		for i, binding := range bindings {
			specs[i] = binding.BindingSpec
		}
		return specs, err
	}
	if err := f.readFiles(a); err != nil {
		return nil, err
	}
	if len(f.labels) > 0 {
		nodes, err := api.Collect(client.Nodes(cmd.Context(), api.Filter{Labels: f.labels}))
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			names = append(names, node.MAC)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no node has the labels %s", strings.Join(f.labels, " "))
		}
	}
	specs := make([]api.BindingSpec, 0, len(names))
	for _, name := range names {
		spec, err := f.change(cmd, client, name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// readFiles replaces the names of files by what they hold.
func (f *bindFlags) readFiles(a *app) error {
	if f.keyFile != "" {
		content, err := a.readFile(f.keyFile)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				f.spec.AuthorizedKeys = append(f.spec.AuthorizedKeys, line)
			}
		}
	}
	if f.userData != "" {
		content, err := a.readFile(f.userData)
		if err != nil {
			return err
		}
		f.spec.UserData = string(content)
	}
	return nil
}

// change takes the node's binding, if any, and changes what flags say.
func (f *bindFlags) change(cmd *cobra.Command, client *api.Client, name string) (api.BindingSpec, error) {
	binding, err := client.Binding(cmd.Context(), name)
	if err != nil && !api.IsNotFound(err) {
		return api.BindingSpec{}, err
	}
	bound := err == nil
	if !bound {
		if _, err := client.Node(cmd.Context(), name); err != nil {
			return api.BindingSpec{}, err
		}
	}
	spec, changed := binding.BindingSpec, cmd.Flags().Changed
	spec.Node = name
	for flag, field := range map[string]struct{ from, to *string }{
		"image": {&f.spec.Image, &spec.Image}, "disk": {&f.spec.Disk, &spec.Disk}, "wipe": {&f.spec.Wipe, &spec.Wipe},
		"mode": {&f.spec.Mode, &spec.Mode}, "verify": {&f.spec.Verify, &spec.Verify},
		"boot": {&f.spec.Boot, &spec.Boot}, "hostname": {&f.spec.Hostname, &spec.Hostname},
		"user-data": {&f.spec.UserData, &spec.UserData}, "kernel-arguments": {&f.spec.KernelArguments, &spec.KernelArguments},
	} {
		if changed(flag) {
			*field.to = *field.from
		}
	}
	if f.takeOver || changed("owner") {
		spec.Owner = f.spec.Owner
	}
	if changed("keys") {
		spec.AuthorizedKeys = f.spec.AuthorizedKeys
	}
	if changed("allow-unsigned") {
		spec.AllowUnsigned = f.spec.AllowUnsigned
	}
	if f.wipeOnly {
		spec.Image = ""
	}
	if f.wipeOnly || changed("image") {
		spec.Capture = ""
	}
	if spec.Image == "" && !f.wipeOnly && (!bound || changed("image")) {
		return spec, usagef("%s: say --image IMAGE, or --wipe-only to wipe the disk", name)
	}
	if binding.UserDataSHA256 != "" && !changed("user-data") {
		return spec, usagef("%s has user data, which sledd does not give out: say it again with --user-data FILE, or --user-data '' to drop it", name)
	}
	return spec, nil
}

// bindAll sends the wishes in bulk. On an error the wishes of the calls before it hold, and are returned with it.
func bindAll(ctx context.Context, client *api.Client, specs []api.BindingSpec, options ...api.Option) ([]api.Binding, error) {
	stored := []api.Binding{}
	for chunk := range slices.Chunk(specs, bulkSize) {
		items := make([]api.BulkBinding, len(chunk))
		for i, spec := range chunk {
			items[i].BindingSpec = spec
		}
		answer, err := client.Bind(ctx, items, options...)
		stored = append(stored, answer...)
		if err != nil {
			return stored, fmt.Errorf("bind: items %d to %d of %d: %w", len(stored)+1, len(stored)+len(chunk), len(specs), err)
		}
	}
	return stored, nil
}
