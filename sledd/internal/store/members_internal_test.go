// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// memberEnv holds the process that a test starts as a member of a cluster.
const memberEnv = "SLED_TEST_ETCD"

func TestMain(m *testing.M) {
	if text := os.Getenv(memberEnv); text != "" {
		serveMember(text)
	}
	os.Exit(m.Run())
}

// process is one member in a process that can be stopped.
type process struct {
	Name, Dir, Client, Peer, Cluster string
	*exec.Cmd                        `json:"-"`
}

// serveMember runs a member until the test ends.
func serveMember(text string) {
	var p process
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	config := embed.NewConfig()
	config.Name, config.Dir, config.LogLevel, config.UnsafeNoFsync = p.Name, p.Dir, "panic", true
	config.ListenClientUrls = []url.URL{{Scheme: "http", Host: p.Client}}
	config.ListenPeerUrls = []url.URL{{Scheme: "http", Host: p.Peer}}
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = config.ListenClientUrls, config.ListenPeerUrls
	config.InitialCluster = p.Cluster
	if _, err := embed.StartEtcd(config); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is no more
	os.Exit(0)
}

// processes starts a cluster of three, and returns the members by their endpoints, and a client.
func processes(t *testing.T) (map[string]*process, *Etcd) {
	t.Helper()
	members, cluster, endpoints := map[string]*process{}, []string{}, []string{}
	for i := range 3 {
		p := &process{Name: fmt.Sprintf("m%d", i), Dir: t.TempDir(), Client: freeAddress(t), Peer: freeAddress(t)}
		endpoints = append(endpoints, "http://"+p.Client)
		members[endpoints[i]] = p
		cluster = append(cluster, p.Name+"=http://"+p.Peer)
	}
	for _, p := range members {
		p.Cluster = strings.Join(cluster, ",")
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		p.Cmd = exec.CommandContext(t.Context(), os.Args[0])
		p.Env = append(os.Environ(), memberEnv+"="+string(text))
		if _, err := p.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = p.Process.Kill()
			_ = p.Wait()
		})
	}
	etcd, err := Dial(endpoints, TLS{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	etcd.deadline, etcd.try = patience.Limit, 2*time.Second // on a machine that is busy with other tests
	patience.Until(t, "the cluster answers", func() bool {
		_, err := etcd.Read(t.Context(), Key("/"))
		return err == nil
	})
	return members, etcd
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// hang makes a follower, or the leader, the first member, and stops its process.
func hang(t *testing.T, members map[string]*process, etcd *Etcd, leader bool) (resume func()) {
	t.Helper()
	for {
		first := etcd.members()[0]
		endpoint := first.Endpoints()[0]
		status, err := first.Status(t.Context(), endpoint)
		if err != nil {
			t.Fatal(err)
		}
		if leads := status.Leader == status.Header.MemberId; status.Leader == 0 || leads != leader {
			etcd.demote(first)
			continue
		}
		signal(t, members[endpoint], syscall.SIGSTOP)
		return func() { signal(t, members[endpoint], syscall.SIGCONT) }
	}
}

func signal(t *testing.T, p *process, which syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(which); err != nil {
		t.Fatal(err)
	}
}

func creation(key string) Transaction {
	var transaction Transaction
	transaction.Unchanged(key, 0)
	transaction.Put(key, nil)
	return transaction
}

func TestAMemberThatHangsIsPassedOver(t *testing.T) {
	members, etcd := processes(t)
	seen := make(chan string, 10)
	go func() {
		for last := int64(0); t.Context().Err() == nil; {
			_ = etcd.Watch(t.Context(), "/key/", last, func(batch Batch) {
				last = batch.Revision
				seen <- batch.Changes[0].Key
			})
		}
	}()
	sees := func(want string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Errorf("the watch saw %s, want %s", got, want)
			}
		case <-time.After(patience.Limit):
			t.Fatalf("the watch does not see %s", want)
		}
	}
	if _, err := etcd.Commit(t.Context(), creation("/key/before")); err != nil {
		t.Fatal(err)
	}
	sees("/key/before")
	resume := hang(t, members, etcd, false)
	if _, err := etcd.Read(t.Context(), Key("/key/before")); err != nil {
		t.Errorf("a read: %v", err)
	}
	resume()
	resume = hang(t, members, etcd, false)
	if _, err := etcd.Commit(t.Context(), creation("/key/follower")); err != nil {
		t.Errorf("a commit: %v", err)
	}
	sees("/key/follower")
	resume()
	defer hang(t, members, etcd, true)()
	patience.Until(t, "another member leads", func() bool {
		_, err := etcd.Commit(t.Context(), creation("/key/leader"))
		return err == nil || errors.Is(err, ErrChanged) // by a try before
	})
	sees("/key/leader")
}
