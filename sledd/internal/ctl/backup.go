// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"
)

// backup is one run of `sledctl backup`.
type backup struct {
	*app
	recipients []string
	passphrase string // file
}

func (a *app) backupCommand() *cobra.Command {
	b := &backup{app: a}
	command := &cobra.Command{
		Use: "backup FILE", Short: "Save an encrypted backup of the store (role admin)",
		Long: `Saves a snapshot of sledd's store, with all that is in it: declarations,
bindings, seeds, the hashes of tokens. FILE is encrypted in the format age, to
recipients or with a passphrase, and replaced only by a whole backup.

sledd restore restores it on a boot server whose sledd does not run.`,
		Example: `  sledctl backup sled.age --recipient age1...
  sledctl backup sled.age --passphrase-file /etc/sled/backup.pass`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd.Context(), args[0]) },
	}
	command.Flags().StringArrayVar(&b.recipients, "recipient", nil, "age recipient, such as of age-keygen (repeatable)")
	command.Flags().StringVar(&b.passphrase, "passphrase-file", "", "file of a passphrase")
	return command
}

func (b *backup) run(ctx context.Context, name string) (err error) {
	recipients, err := b.keys()
	if err != nil {
		return err
	}
	client, err := b.client()
	if err != nil {
		return err
	}
	snapshot, err := client.Backup(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }()
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = os.Remove(part) }() // after a failure
	err = encrypt(file, snapshot, recipients)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func encrypt(file *os.File, text io.Reader, recipients []age.Recipient) error {
	sealed, err := age.Encrypt(file, recipients...)
	if err != nil {
		return err //nolint:wrapcheck // by the caller
	}
	if _, err := io.Copy(sealed, text); err != nil {
		return err //nolint:wrapcheck // by the caller
	}
	if err := sealed.Close(); err != nil {
		return err //nolint:wrapcheck // by the caller
	}
	return file.Sync() //nolint:wrapcheck // by the caller
}

func (b *backup) keys() ([]age.Recipient, error) {
	if (b.passphrase != "") == (len(b.recipients) > 0) {
		return nil, usagef("expected one of --recipient and --passphrase-file: a backup is encrypted")
	}
	if b.passphrase != "" {
		text, err := os.ReadFile(b.passphrase)
		if err != nil {
			return nil, fmt.Errorf("--passphrase-file: %w", err)
		}
		recipient, err := age.NewScryptRecipient(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("--passphrase-file %s: %w", b.passphrase, err)
		}
		return []age.Recipient{recipient}, nil
	}
	recipients, err := age.ParseRecipients(strings.NewReader(strings.Join(b.recipients, "\n")))
	if err != nil {
		return nil, usagef("--recipient: %v", err)
	}
	return recipients, nil
}
