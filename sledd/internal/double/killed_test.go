// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// processEnv holds the process that serves until it is killed.
const processEnv = "SLED_TEST_SLEDD"

// process is a sledd with its store on a disk, in a process: this program, with one test.
type process struct {
	*testing.T            `json:"-"`
	Address, Data, Upload string
	client                *api.Client
	command               *exec.Cmd
}

// TestServe is the process.
func TestServe(t *testing.T) {
	var p process
	if text := os.Getenv(processEnv); text == "" {
		t.Skip("it is for TestJobsOutliveSledd")
	} else if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	etcd, err := store.Embed(t.Context(), store.Embedded{Dir: p.Data})
	if err != nil {
		t.Fatal(err)
	}
	sledd := sleddtest.StartWith(t, sleddtest.Options{Store: etcd, UploadDirectory: p.Upload, Address: p.Address})
	sledd.DeclareMany(jobsOnce)
	sledd.RegisterRoot("hpl")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is no more
	os.Exit(0)
}

func (p *process) Client() *api.Client { return p.client }

// Stop kills it.
func (p *process) Stop() {
	if p.command != nil {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
		p.command = nil
	}
}

// Resume starts it, and waits until it has its nodes and its image.
func (p *process) Resume() {
	p.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		p.Fatal(err)
	}
	p.command = exec.CommandContext(context.WithoutCancel(p.Context()), os.Args[0], "-test.run=^TestServe$")
	p.command.Env, p.command.Stderr = append(os.Environ(), processEnv+"="+string(text)), os.Stderr
	if _, err := p.command.StdinPipe(); err != nil {
		p.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		p.Fatal(err)
	}
	patience.Until(p, "sledd answers", func() bool {
		_, err := p.client.Image(p.Context(), "hpl")
		return err == nil
	})
}

// What is stored when sledd is killed is all that it knows afterwards. LONG=1: it is away for 3 minutes.
func TestJobsOutliveSledd(t *testing.T) {
	away := 2 * time.Second
	if os.Getenv("LONG") != "" {
		away = 3 * time.Minute
	}
	once(t, func(payload double.Payload, change func(i int, settings *double.Settings)) *rack {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := &process{T: t, Address: listener.Addr().String(), Data: t.TempDir(), Upload: t.TempDir()}
		_ = listener.Close()
		p.client, err = api.New(api.Config{Server: "http://" + p.Address, Token: sleddtest.AdminToken})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		p.Resume()
		r := &rack{T: t, server: p, machines: t.TempDir(), upload: p.Upload}
		r.power("http://"+p.Address, jobsOnce, payload, change)
		return r
	}, away)
}
