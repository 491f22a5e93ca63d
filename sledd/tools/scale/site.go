// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	adminToken = "0123456789abcdef0123456789abcdef"
	writers    = 16
	// patience is for what takes a minute on an idle machine.
	patience = 15 * time.Minute
	ticks    = 100 // of the clock in /proc, in a second
)

// site is a sledd with an embedded etcd in a separate folder.
type site struct {
	*api.Client
	program, dir, address string
	process               *exec.Cmd
	spares                atomic.Int32 // that were bound
}

// open makes a site without nodes.
func (b *bench) open(ctx context.Context) (*site, error) {
	dir, err := os.MkdirTemp("", "sled-scale")
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "machines"), 0o700); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	free, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("port: %w", err)
	}
	s := &site{program: b.sledd, dir: dir, address: free.Addr().String()}
	_ = free.Close()
	if err := os.WriteFile(s.file("token"), []byte(adminToken), 0o600); err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	config := api.Config{Server: "http://" + s.address, Token: adminToken, Timeout: patience}
	if s.Client, err = api.New(config); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if err := s.start(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *site) file(name string) string { return filepath.Join(s.dir, name) }

// start starts sledd, and waits until it serves.
func (s *site) start(ctx context.Context) error {
	log, err := os.OpenFile(s.file("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer log.Close()
	//nolint:gosec // the program is named by make
	s.process = exec.CommandContext(ctx, s.program, "--data-dir", s.file("data"), "--listen", s.address,
		"--admin-token-file", s.file("token"), "--boot-url", "http://127.0.0.1", "--admission", "open", "--log-level", "warn")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("sledd: %w", err)
	}
	return until(ctx, func(ctx context.Context) bool { _, err := s.Images(ctx); return err == nil })
}

// kill ends sledd without notice.
func (s *site) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func (s *site) close() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

// pause between two questions: sledd walks over all nodes for each answer of /metrics.
const pause = 500 * time.Millisecond

// until asks until something is so.
func until(ctx context.Context, is func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !is(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not so after %s: %w", patience, ctx.Err())
		case <-time.After(pause):
		}
	}
	return nil
}

// declare declares two images and nodes, and returns the MACs of the nodes. Their names start with their group.
func (s *site) declare(ctx context.Context, group byte, count int) ([]string, error) {
	for i, name := range []string{"one", "two"} {
		digest := "sha256:" + strings.Repeat(strconv.Itoa(i), 64)
		if _, err := s.PutImage(ctx, api.ImageSpec{Name: name, Digest: digest, URLs: []string{"http://127.0.0.1/" + name},
			Bytes: 1 << 30, FileBytes: 1 << 28}); err != nil {
			return nil, err //nolint:wrapcheck // names the image
		}
	}
	macs := make([]string, count)
	return macs, pool(writers, count, func(i int) error {
		macs[i] = fmt.Sprintf("02:53:4c:%02x:%02x:%02x", group, i>>8, i&0xff)
		_, err := s.PutNode(ctx, api.NodeSpec{MAC: macs[i], Name: fmt.Sprintf("%c%d", group, i), Disk: "only"})
		return err //nolint:wrapcheck // names the node
	})
}

// pool calls with 0 to count-1, several at a time, until one fails.
func pool(workers, count int, do func(i int) error) error {
	var next atomic.Int64
	failed := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for i := int(next.Add(1)) - 1; i < count && err == nil; i = int(next.Add(1)) - 1 {
				err = do(i)
			}
			failed <- err
		}()
	}
	var all error
	for range workers {
		all = errors.Join(all, <-failed)
	}
	return all
}

// bindAll binds nodes.
func (s *site) bindAll(ctx context.Context, nodes []string) error {
	var all api.BulkBindings
	for _, node := range nodes {
		all.Items = append(all.Items, api.BulkBinding{BindingSpec: api.BindingSpec{Node: node, Image: "one"}})
	}
	_, err := s.Bind(ctx, all)
	return err //nolint:wrapcheck // clear enough
}

// waiting is how many polls of nodes are open.
func (s *site) waiting(ctx context.Context) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/metrics", nil)
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	var text strings.Builder
	_ = response.Write(&text)
	_, value, _ := strings.Cut(text.String(), "\nsledd_waiting_polls ")
	value, _, _ = strings.Cut(value, "\n")
	count, _ := strconv.Atoi(strings.TrimSpace(value))
	return count
}

// megabytes is the memory of sledd now.
func (s *site) megabytes() float64 {
	_, value, _ := strings.Cut(read(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid)), "VmRSS:")
	kilobytes, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
	return kilobytes / 1024
}

// cpu is the seconds that sledd has used.
func (s *site) cpu() float64 {
	text := read(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	fields := strings.Fields(text[strings.LastIndex(text, ")"):])
	user, _ := strconv.ParseFloat(fields[12], 64)
	system, _ := strconv.ParseFloat(fields[13], 64)
	return (user + system) / ticks
}
