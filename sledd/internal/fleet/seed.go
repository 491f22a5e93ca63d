// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// Seed returns the installed system's files as a tar, with a token to report operational with. The boot token that got it first may
// request it again until the generation is operational: the response may have been lost on the way. It is the same one then.
func (f *Fleet) Seed(ctx context.Context, address, bearer string) (seed []byte, renewed string, err error) {
	err = f.update(ctx, address, nil, func(v *view) error {
		record, err := v.authenticate(bearer, token.Boot, current)
		if err != nil {
			return err
		}
		if v.binding == nil || v.binding.Image == "" || v.node == nil {
			return refuse(NotFound, "node %s is not bound to an image: there is no seed", address)
		}
		if v.rescue != nil {
			return refuse(Forbidden, "node %s is under rescue: its seed is not given", address)
		}
		if v.satisfied() {
			return refuse(Forbidden, "generation %d is operational: its seed is not given any more", v.wished())
		}
		text, issued, err := v.operationalToken(bearer, record)
		if err != nil {
			return err
		}
		renewed = f.renew(v, record)
		v.status.Seen = v.now
		seed, err = f.pack(v, text, issued)
		return err
	})
	return seed, renewed, err
}

// operationalToken returns the token of the installed system, and when it was issued. It is derived from the boot token, so that nothing
// secret has to be stored to return it twice. Once it was issued for one boot token, the others of the same boot get none.
func (v *view) operationalToken(bearer string, record *token.Record) (string, time.Time, error) {
	text, fresh := token.Derive(bearer, v.mac, v.wished(), v.now, operationalLife)
	if !record.Seeded {
		for i, other := range v.tokens {
			v.tokens[i].Seeded = other.Seeded || other.Purpose == token.Boot && other.Generation == record.Generation
		}
		v.tokens = token.Add(token.Without(v.tokens, token.Operational), fresh, v.now)
		return text, fresh.Issued, nil
	}
	i := token.Find(v.tokens, text, v.now)
	if i < 0 {
		return "", time.Time{}, refuse(Forbidden, "the seed was issued to another token of this boot")
	}
	return text, v.tokens[i].Issued, nil
}

func (f *Fleet) pack(v *view, text string, issued time.Time) ([]byte, error) {
	hostname := v.binding.Hostname
	if hostname == "" {
		hostname = v.node.Name
	}
	generation := v.wished()
	type file struct{ name, content string }
	files := []file{
		{"meta-data", fmt.Sprintf("instance-id: sled-%s-%d\nlocal-hostname: %s\n", mac.Hyphens(v.mac), generation, hostname)},
		{"operational", fmt.Sprintf("operational server=%s mac=%s generation=%d token=%s\n",
			strings.Join(f.System.Servers, ","), v.mac, generation, text)},
	}
	if len(v.binding.AuthorizedKeys) > 0 {
		files = append(files, file{"authorized_keys", strings.Join(v.binding.AuthorizedKeys, "\n") + "\n"})
	}
	if v.binding.UserData != "" {
		files = append(files, file{"user-data", v.binding.UserData})
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, one := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: one.name, Size: int64(len(one.content)), Mode: 0o600,
			ModTime: issued.Truncate(time.Second), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("seed of %s: %s: %w", v.mac, one.name, err)
		}
		if _, err := archive.Write([]byte(one.content)); err != nil {
			return nil, fmt.Errorf("seed of %s: %s: %w", v.mac, one.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("seed of %s: %w", v.mac, err)
	}
	return out.Bytes(), nil
}

// Operational takes the installed system's word that it runs.
func (f *Fleet) Operational(ctx context.Context, address, bearer string, said api.OS, generation int64, uptime float64) error {
	return f.update(ctx, address, nil, func(v *view) error {
		record, err := v.authenticate(bearer, token.Operational, current)
		if err != nil {
			return err
		}
		if generation != record.Generation {
			return invalid("body", generation, fmt.Errorf("line 2: generation %d, the token is of generation %d", generation, record.Generation))
		}
		if generation != v.status.Generation {
			return refuse(Forbidden, "generation %d is not what node %s was given last (%d)", generation, address, v.status.Generation)
		}
		v.status.Seen = v.now
		if v.status.Phase == api.Operational && v.status.OS != nil && v.status.OS.BootID == said.BootID {
			return nil // said again
		}
		said.Confirmed = v.now
		v.started(said.Start, generation)
		v.enter(api.Operational)
		v.status.Rescue = 0
		v.status.OS, v.status.BootID = &said, said.BootID
		v.status.Progress, v.status.Code, v.status.Reason = nil, 0, ""
		v.happened(api.Event{Kind: "operational", Generation: generation, BootID: said.BootID, Seconds: uptime})
		v.compareBootOrder()
		return nil
	})
}

// compareBootOrder notes a firmware that does not boot first what is declared.
func (v *view) compareBootOrder() {
	node := v.public()
	if other := node.OtherBootOrder(); other != "" {
		v.happened(api.Event{Kind: "bootorder", Generation: v.status.Generation, BootID: v.status.BootID,
			Detail: fmt.Sprintf("the firmware boots from %s first, declared is %s", other, node.BootOrder)})
	}
}
