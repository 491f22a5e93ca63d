// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// restore is one run of `sledd restore`.
type restore struct {
	settings             settings
	identity, passphrase string // files
}

func restoreCommand() *cobra.Command {
	var r restore
	command := &cobra.Command{
		Use:   "restore [BACKUP]",
		Short: "Restore a backup of the store, and hold all nodes",
		Long: `Makes the data directory of a sledd that does not run out of BACKUP, a file of
"sledctl backup". Without BACKUP, the store of the settings was put back by
other means, such as etcdutl: then only what follows is done.

The store gets a new epoch. Every node boots its disk and gets no plan until it
is released by "sledctl release". Tokens of nodes, logins, rescues, jobs,
rollouts that run and all operators but admin are ended: they may have ended
since the backup.`,
		Example: "  sledd restore --data-dir /var/lib/sled --identity-file key.txt sled.age",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return r.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	r.settings.flags(command.Flags())
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !strings.HasPrefix(flag.Name, "etcd-") && flag.Name != "data-dir"
	})
	command.Flags().StringVar(&r.identity, "identity-file", "", "file of an age identity that the backup is encrypted to")
	command.Flags().StringVar(&r.passphrase, "passphrase-file", "", "file of the passphrase that encrypts the backup")
	command.MarkFlagsMutuallyExclusive("identity-file", "passphrase-file")
	return command
}

func (r *restore) run(ctx context.Context, out io.Writer, args []string) error {
	var err error
	if len(args) == 0 {
		err = r.hold(ctx, out)
	} else {
		err = r.restore(ctx, out, args[0])
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "restored: all nodes are held, sledctl release --all --dry-run lists them")
	return err //nolint:wrapcheck // clear enough
}

// restore makes the data directory, whose nodes are held from its first moment on.
func (r *restore) restore(ctx context.Context, out io.Writer, name string) error {
	if len(r.settings.etcdEndpoints) > 0 {
		return fmt.Errorf("--etcd-endpoints: restore the members with etcdutl, then call sledd restore without BACKUP")
	}
	identities, err := r.identities()
	if err != nil {
		return err
	}
	file, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := age.Decrypt(file, identities...)
	if err != nil {
		return fmt.Errorf("backup %s: %w", name, err)
	}
	return store.Make(r.settings.dataDir, func(dir string) error {
		if err := store.Unpack(dir, text); err != nil {
			return err
		}
		r.settings.dataDir = dir
		return r.hold(ctx, out)
	})
}

// hold holds all nodes, and ends what the store brings back.
func (r *restore) hold(ctx context.Context, out io.Writer) error {
	log, err := logger(r.settings)
	if err != nil {
		return err
	}
	etcd, err := open(ctx, r.settings, log)
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	db := &nodetx.DB{Store: etcd}
	operators := &fleet.Fleet{DB: db}
	ended, err := operators.Restored(ctx)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, name := range ended {
		_, _ = fmt.Fprintf(out, "operator %s deleted\n", name)
	}
	return abort(ctx, rolloutstore.New(db))
}

func (r *restore) identities() ([]age.Identity, error) {
	if r.passphrase != "" {
		text, err := os.ReadFile(r.passphrase)
		if err != nil {
			return nil, fmt.Errorf("--passphrase-file: %w", err)
		}
		identity, err := age.NewScryptIdentity(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("--passphrase-file %s: %w", r.passphrase, err)
		}
		return []age.Identity{identity}, nil
	}
	if r.identity == "" {
		return nil, fmt.Errorf("name the --identity-file or the --passphrase-file of the backup")
	}
	file, err := os.Open(r.identity)
	if err != nil {
		return nil, fmt.Errorf("--identity-file: %w", err)
	}
	defer func() { _ = file.Close() }()
	identities, err := age.ParseIdentities(file)
	if err != nil {
		return nil, fmt.Errorf("--identity-file %s: %w", r.identity, err)
	}
	return identities, nil
}

// abort ends the rollouts that have not ended.
func abort(ctx context.Context, rollouts *rolloutstore.Rollouts) error {
	list, err := rollouts.List(ctx)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, rollout := range list.Items {
		if rollout.State != api.RolloutRunning && rollout.State != api.RolloutStopped {
			continue
		}
		_, err := rollouts.Abort(ctx, rollout.Name, "the restore of a backup")
		if err != nil && !refusal.Is(err, refusal.Conflict) {
			return fmt.Errorf("restore: %w", err)
		}
	}
	return nil
}
