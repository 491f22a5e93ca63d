// SPDX-License-Identifier: Apache-2.0

package double

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"path"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// SSH is the SSH server of the installed system. It lets in whoever connects, and answers every command with what
// Sled's playbooks verify: host name, boot ID, image.
type SSH struct {
	Address string `json:"address"` // with port; empty: there is none
	Fault   string `json:"fault"`   // key: it has another host key than it reported; image: another image; silent
}

// install records what the steps write and configure say of the installed system.
func (n *node) install(step operand.Line) error {
	operands := step.Map()
	switch step.Word {
	case "fetch":
		if operands["as"] == "root" {
			n.memory = map[string]string{"image": path.Base(operands["image"])}
		}
	case "write":
		return n.keep("image", path.Base(operands["image"]))
	case "configure":
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) // never fails
		if err := n.keep("hostkey", hex.EncodeToString(seed)); err != nil {
			return err
		}
		if err := n.keep("hostname", operands["hostname"]); err != nil {
			return err
		}
		return n.keep("stamp", operands["stamp"])
	}
	return nil
}

// hostKey is the host key of the installed system.
func (n *node) hostKey() (ssh.Signer, error) {
	seed, err := hex.DecodeString(n.kept("hostkey"))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("ssh: %q is no host key: %w", n.path("hostkey"), err)
	}
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, fmt.Errorf("ssh: %w", err)
	}
	return signer, nil
}

// publicKey is its public half as reports have it; nil without an SSH server.
func (n *node) publicKey() ([]operand.Pair, error) {
	if n.Settings.SSH.Address == "" {
		return nil, nil
	}
	key, err := n.hostKey()
	if err != nil {
		return nil, err
	}
	public := key.PublicKey()
	return []operand.Pair{{Key: "host_key",
		Value: public.Type() + " " + base64.StdEncoding.EncodeToString(public.Marshal())}}, nil
}

// rescued is where the SSH server of a rescue is, and its host key, as reports have them. Nobody answers there.
func rescued() (string, error) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("rescue: %w", err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("rescue: %w", err)
	}
	return "10.0.0.1 " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}

// serveSSH answers until it is stopped.
func (n *node) serveSSH(ctx context.Context) (stop func(), err error) {
	if n.Settings.SSH.Address == "" {
		return func() {}, nil
	}
	if n.Settings.SSH.Fault == "key" {
		if err := n.install(operand.Line{Word: "configure"}); err != nil {
			return nil, err
		}
	}
	key, err := n.hostKey()
	if err != nil {
		return nil, err
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(key)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.Settings.SSH.Address)
	if err != nil {
		return nil, fmt.Errorf("ssh: %w", err)
	}
	image := n.kept("image")
	if n.Settings.SSH.Fault == "image" {
		image = "another"
	}
	answer := fmt.Sprintf("%s\n%s\nname=%s\n", n.kept("hostname"), n.boot, image)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // switched off
			}
			if n.Settings.SSH.Fault != "silent" {
				go login(connection, config, answer)
			}
		}
	}()
	return func() { _ = listener.Close() }, nil
}

// login answers the commands of one connection. Whoever connects sees its errors.
func login(connection net.Conn, config *ssh.ServerConfig, answer string) {
	defer func() { _ = connection.Close() }()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		if channel.ChannelType() != "session" {
			_ = channel.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		session, asked, err := channel.Accept()
		if err != nil {
			return
		}
		go reply(session, asked, answer)
	}
}

func reply(session ssh.Channel, asked <-chan *ssh.Request, answer string) {
	defer func() { _ = session.Close() }()
	for request := range asked {
		exec := request.Type == "exec"
		if request.WantReply {
			_ = request.Reply(exec, nil)
		}
		if exec {
			_, _ = session.Write([]byte(answer))
			_, _ = session.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
			return
		}
	}
}
