// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// bulkSize is the number of bindings in one request.
const bulkSize = 1000

// bindFlags are the parts of a binding that flags can set.
type bindFlags struct {
	file   string
	labels []string
	spec   api.BindingSpec
	files  attributeFiles

	wipeOnly, reimage, takeOver bool
	consent                     consent
}

func (a *app) bindCommand() *cobra.Command {
	var f bindFlags
	command := &cobra.Command{
		Use: "bind [NODE...]", Short: "Assign an image to nodes",
		Long: `Sets which image nodes get. Attributes without a flag keep their value; -f
replaces whole bindings.

Another image, disk or kernel raises the generation of the binding. The node
is then imaged again: at once if it waits in the Sled system, otherwise at its
next boot. --reimage does the same with nothing changed. Another hostname,
other user data or keys are for the next image, unless --seed-changes reimage.
Of a node without an image, another --wipe, --wipe-method or --verify wipes all
disks again. This command does not switch power.

Before it changes anything, it prints which disks are wiped. On a terminal it
asks. Elsewhere it refuses to image more than one node again, and with --label
to wipe more than one, with exit code 4, unless --max-reimages, --max-wipes or
--yes allows it. --max-wipes counts first images too.

A binding with an owner, such as Terraform, keeps it when others change the
binding. --take-over changes the owner to --owner, or removes it.

To make an image of a node's disk, see sledctl image capture.`,
		Example: `  sledctl bind n1 n2 --image debian-12-v1 --keys ~/.ssh/id_ed25519.pub
  sledctl bind -l rack=a --image debian-12-v2 --dry-run
  sledctl bind -l rack=a --image debian-12-v2 --max-reimages 20
  sledctl bind n1 --wipe-only
  sledctl bind -f bindings.yaml`,
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			a.Interactive = a.Interactive && f.file != "-" // the input is used up
			client, err := a.client()
			if err != nil {
				return err
			}
			items, err := f.items(cmd, a, client, args)
			if err != nil {
				return err
			}
			return f.bind(cmd.Context(), a, client, items)
		},
	}
	f.define(command)
	_ = command.RegisterFlagCompletionFunc("image", a.completeImages)
	_ = command.RegisterFlagCompletionFunc("kernel", a.completeImages)
	return command
}

// bind shows what sledd judges that the bindings would do, and stores them if that is agreed to.
func (f *bindFlags) bind(ctx context.Context, a *app, client *api.Client, items []api.BulkBinding) error {
	shown, err := outlooks(ctx, client, items, f.options())
	if err != nil {
		return err
	}
	if f.consent.dryRun {
		return a.show(shown, func() { a.printPreview(a.Out, previewOf(shown), 0) })
	}
	if err := f.consent.obtain(ctx, a, previewOf(shown)); err != nil {
		return err
	}
	stored, err := bindAll(ctx, client, pinned(items, shown), f.options()...)
	if len(stored) > 0 || err == nil {
		if printed := a.bindings().printWith(ctx, a, client, stored); err == nil {
			err = printed
		}
	}
	return err
}

func (f *bindFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.file, "file", "f", "",
		"file of bindings in YAML or JSON, as printed by sledctl binding list -o yaml; - is standard input")
	flags.StringArrayVarP(&f.labels, "label", "l", nil,
		"bind all nodes with this label (repeatable; all must match)")
	f.attributeFlags(command)
	flags.BoolVar(&f.wipeOnly, "wipe-only", false, "no image: wipe all disks but those that the node keeps, then wait")
	flags.BoolVar(&f.reimage, "reimage", false, "image again even if nothing changed")
	flags.BoolVar(&f.takeOver, "take-over", false, "replace the owner of a binding by --owner, or remove it")
	f.consent.define(command)
	f.consent.defineLimits(command)
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
	sources := 0
	for _, present := range []bool{len(args) > 0, f.file != "", len(f.labels) > 0} {
		if present {
			sources++
		}
	}
	if sources != 1 {
		return usagef("expected one of NODE..., --label KEY=VALUE and -f FILE")
	}
	if f.wipeOnly && f.spec.Image != "" {
		return usagef("--image %s and --wipe-only exclude each other", f.spec.Image)
	}
	if f.file != "" && (f.wipeOnly || f.spec.Image != "" || f.spec.Owner != "") {
		return usagef("--file replaces whole bindings: it excludes --image, --wipe-only and --owner")
	}
	f.consent.unnamed = len(f.labels) > 0
	return f.consent.check()
}

// items makes whole bindings: those of the file, or the present binding of each node with the changes of the flags.
func (f *bindFlags) items(cmd *cobra.Command, a *app, client *api.Client, names []string) ([]api.BulkBinding, error) {
	if f.file != "" {
		return f.ofFile(cmd.Context(), a, client)
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
	items := make([]api.BulkBinding, 0, len(names))
	for _, name := range names {
		spec, err := f.change(cmd, client, name)
		if err != nil {
			return nil, err
		}
		items = append(items, api.BulkBinding{BindingSpec: spec, KeepUserData: !cmd.Flags().Changed("user-data")})
	}
	return items, nil
}

// ofFile returns the bindings of a file. User data is in no output, only its hash: it is kept if the stored user data
// has the same.
func (f *bindFlags) ofFile(ctx context.Context, a *app, client *api.Client) ([]api.BulkBinding, error) {
	bindings, err := readObjects[api.Binding](a, f.file)
	if err != nil {
		return nil, err
	}
	items := make([]api.BulkBinding, len(bindings))
	for i, binding := range bindings {
		items[i] = api.BulkBinding{BindingSpec: binding.BindingSpec, IfMAC: binding.MAC}
		for k, key := range binding.AuthorizedKeys {
			if err := api.CheckKey(key); err != nil {
				return nil, usagef("%s: item %d: %s: authorized key %d %w", f.file, i+1, binding.Node, k+1, err)
			}
		}
		if binding.UserData != "" || binding.UserDataSHA256 == "" {
			continue
		}
		stored, err := client.Binding(ctx, binding.Node)
		if err != nil && !api.IsNotFound(err) {
			return nil, err
		}
		if stored.UserDataSHA256 != binding.UserDataSHA256 {
			return nil, usagef("%s: item %d: %s has user data of which the file has only the hash, and sledd does not have it: "+
				"add user_data, or remove user_data_sha256", f.file, i+1, binding.Node)
		}
		items[i].KeepUserData = true
	}
	return items, nil
}

// readKeys reads a file of SSH public keys, so that no private key is sent; no name, no keys.
func (a *app) readKeys(name string) ([]string, error) {
	content, err := a.readText(name)
	if err != nil {
		return nil, err
	}
	keys, err := api.ReadKeys(content)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	return keys, nil
}

// readText reads a file; no name, no text.
func (a *app) readText(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	content, err := a.readFile(name)
	return string(content), err
}

// change applies the flags to the present binding of a node, if it has one.
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
	f.set(&spec, changed)
	if f.takeOver || changed("owner") {
		spec.Owner = f.spec.Owner
	}
	if f.wipeOnly {
		spec.Image = ""
	}
	if f.wipeOnly || changed("image") {
		spec.Capture = ""
	}
	if spec.Image == "" && !f.wipeOnly && (!bound || changed("image")) {
		return spec, usagef("%s: --image IMAGE is missing, or --wipe-only to wipe the disks", name)
	}
	return spec, nil
}

// bindAll sends the bindings in bulk. On an error, those of earlier requests are stored, and are returned with it.
func bindAll(
	ctx context.Context, client *api.Client, items []api.BulkBinding, options ...api.Option,
) ([]api.Binding, error) {
	stored := []api.Binding{}
	for chunk := range slices.Chunk(items, bulkSize) {
		answer, err := client.Bind(ctx, api.BulkBindings{Items: chunk}, options...)
		stored = append(stored, answer...)
		if err = wording.Refusal(err, chunk); err != nil && len(items) > bulkSize {
			last := len(stored) + len(chunk)
			return stored, fmt.Errorf("bind: items %d to %d of %d: %w", len(stored)+1, last, len(items), err)
		}
		if err != nil {
			return stored, err
		}
	}
	return stored, nil
}
