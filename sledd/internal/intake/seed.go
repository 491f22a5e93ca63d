// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Seed returns the installed system's files as a tar, with a token to report operational with. The
// boot token that got it first may request it again until the generation is operational: the
// response may have been lost on the way. It is the same one then.
func (in *Intake) Seed(ctx context.Context, address, bearer string) (seed []byte, renewed string, err error) {
	err = in.update(ctx, address, []nodetx.Want{nodetx.Events(recent), nodetx.Network}, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, current)
		if err != nil {
			return err
		}
		if tx.Binding() == nil || tx.Binding().Image == "" || tx.Node() == nil {
			return refusal.New(refusal.NotFound, "node %s is not bound to an image: there is no seed", address)
		}
		if tx.Binding().Payload() != nil {
			return refusal.New(refusal.NotFound, "node %s is bound to a payload, which takes no seed", address)
		}
		if tx.Detour() != nil {
			return refusal.New(refusal.Forbidden, "node %s is %s: its seed is not issued", address, tx.Detour().State())
		}
		if tx.Satisfied() {
			return refusal.New(refusal.Forbidden, "generation %d is operational: its seed is not issued any more",
				tx.Generation())
		}
		if err := tx.maySecrets(record); err != nil {
			return err
		}
		text, issued, err := tx.operationalToken(bearer, record)
		if err != nil {
			return err
		}
		tx.step(admission.Seed{ID: record.Claim})
		renewed = in.renew(tx, record)
		tx.Status().Seen, tx.Status().SeedNumber = tx.Now, tx.Binding().SeedNumber
		isSeed := func(event api.Event) bool { return event.Kind == "seed" }
		if !slices.ContainsFunc(tx.NewEvents(), isSeed) { // the alarm is the event of this seed, too
			tx.addOnce(api.Event{Kind: "seed", Generation: tx.Generation()})
		}
		seed, err = in.pack(tx, text, issued)
		return err
	})
	return seed, renewed, err
}

// operationalToken returns the token of the installed system, and when it was issued. It is derived
// from the boot token, so that no secret has to be stored to return it twice. Once it was issued
// for one boot token, the others of the same boot get none.
func (tx *nodeTx) operationalToken(bearer string, record *token.Record) (string, time.Time, error) {
	text, fresh := token.Derive(bearer, tx.MAC, tx.Generation(), tx.Now, operationalLife)
	fresh.Unwritten = record.Unwritten
	if !record.Seeded {
		for i, other := range tx.Tokens() {
			tx.Tokens()[i].Seeded = other.Seeded || other.Purpose == token.Boot && other.Generation == record.Generation
		}
		tx.SetTokens(token.Add(token.Without(tx.Tokens(), token.Operational), fresh, tx.Now))
		return text, fresh.Issued, nil
	}
	i := token.Find(tx.Tokens(), text, tx.Now)
	if i < 0 {
		return "", time.Time{}, refusal.New(refusal.Forbidden, "the seed was issued to another token of this boot")
	}
	tx.Tokens()[i].Unwritten = record.Unwritten
	return text, tx.Tokens()[i].Issued, nil
}

func (in *Intake) pack(tx *nodeTx, text string, issued time.Time) ([]byte, error) {
	hostname := tx.Binding().Hostname
	if hostname == "" {
		hostname = tx.Node().Name
	}
	generation := tx.Generation()
	report, err := operand.Encode(operand.Line{Word: "operational", Operands: []operand.Pair{
		{Key: "server", Value: strings.Join(in.System.Servers, ",")}, {Key: "mac", Value: tx.MAC},
		{Key: "generation", Value: strconv.FormatInt(generation, 10)}, {Key: "token", Value: text}}})
	if err != nil {
		return nil, fmt.Errorf("seed of %s: %w", tx.MAC, err)
	}
	files := []file{
		{"meta-data", fmt.Sprintf("instance-id: sled-%s-%d\nlocal-hostname: %s\n",
			mac.Hyphens(tx.MAC), generation, hostname)},
		{"operational", report + "\n"},
	}
	if len(tx.Binding().AuthorizedKeys) > 0 {
		files = append(files, file{"authorized_keys", strings.Join(tx.Binding().AuthorizedKeys, "\n") + "\n"})
	}
	files = append(files, networkFiles(tx)...)
	userData, err := in.DB.UserData(tx.Binding())
	if err != nil {
		return nil, err
	}
	if userData != "" {
		files = append(files, file{"user-data", userData})
	}
	return archive("seed of "+tx.MAC, files, issued)
}

// networkFiles are those of the network of the installed system: what it is, and where it is a document, its files for
// each kind of image, below a folder that is named by the kind.
func networkFiles(tx *nodeTx) (files []file) {
	declared := tx.Node().Network
	if declared == "" || declared == api.ImageNetwork {
		return nil
	}
	rendered := tx.Network()
	if !declared.Declared() || rendered == nil {
		return []file{{"network", string(declared) + "\n"}}
	}
	files = append(files, file{"network", "declared\n"})
	for _, kind := range []struct {
		name  string
		files []api.NetworkFile
	}{{"networkd", rendered.Networkd}, {"networkmanager", rendered.NetworkManager},
		{"netplan-networkd", rendered.NetplanNetworkd}, {"netplan-networkmanager", rendered.NetplanNetworkManager}} {
		for _, one := range kind.files {
			files = append(files, file{kind.name + one.Path, one.Content})
		}
	}
	return files
}

type file struct{ name, content string }

// archive packs files into a tar; the error states what it is.
func archive(what string, files []file, made time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, one := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: one.name, Size: int64(len(one.content)), Mode: 0o600,
			ModTime: made.Truncate(time.Second), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", what, one.name, err)
		}
		if _, err := archive.Write([]byte(one.content)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", what, one.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out.Bytes(), nil
}
