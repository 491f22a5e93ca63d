// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// Digest is that of every captured image.
const Digest = "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"

// declarers at the same time: the store takes many at once faster than one by one.
const declarers = 32

// MAC is the address of node n<i>.
func MAC(i int) string { return fmt.Sprintf("52:54:00:77:%02x:%02x", i>>8, i&0xff) }

// Node is what Declare declares of node n<i>.
func Node(i int) api.NodeSpec {
	return api.NodeSpec{MAC: MAC(i), Name: fmt.Sprintf("n%d", i), Disk: fmt.Sprintf("serial:LAB-%04d", i),
		Labels: map[string]string{"rack": "a"}}
}

// Declare declares node n<i>.
func (s *Sledd) Declare(i int) api.NodeSpec {
	s.t.Helper()
	node, err := s.client.PutNode(s.t.Context(), Node(i))
	if err != nil {
		s.t.Fatal(err)
	}
	return node.NodeSpec
}

// DeclareMany declares nodes n0 to n<n-1>, past the network.
func (s *Sledd) DeclareMany(n int) {
	s.t.Helper()
	var running sync.WaitGroup
	slots := make(chan struct{}, declarers)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			spec := Node(i)
			if _, err := s.Fleet.PutNode(context.Background(), spec.Name, spec, nodetx.Wanted{}); err != nil {
				s.t.Error(err)
			}
		})
	}
	running.Wait()
}

// DigestOf is the digest of an image that Register makes.
func DigestOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Register registers an image.
func (s *Sledd) Register(name string) api.ImageSpec {
	s.t.Helper()
	spec := api.ImageSpec{Name: name, Digest: DigestOf(name), URLs: []string{"http://10.77.0.1/images/" + name},
		Bytes: 1 << 30, FileBytes: 1 << 28}
	image, err := s.client.PutImage(s.t.Context(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	return image.ImageSpec
}

// RegisterRoot registers an image for jobs.
func (s *Sledd) RegisterRoot(name string) {
	s.t.Helper()
	_, err := s.client.PutImage(s.t.Context(), api.ImageSpec{Name: name, Kind: api.RootImage, Digest: DigestOf(name),
		URLs: []string{"http://10.77.0.1/images/" + name}, Bytes: 1 << 27, FileBytes: 1 << 26,
		Container: &api.Container{Command: []string{"/bin/" + name}}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Bind stores a binding.
func (s *Sledd) Bind(spec api.BindingSpec, options ...api.Option) api.Binding {
	s.t.Helper()
	binding, err := s.client.PutBinding(s.t.Context(), spec, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	return binding
}

// Recorded is what became of a report on one node of a rollout.
type Recorded struct {
	Rollout api.Rollout
	Run     api.NodeRun
}

// Report reports one node of a rollout.
func (s *Sledd) Report(rollout, node string, spec api.NodeRunSpec) Recorded {
	s.t.Helper()
	answer, err := s.client.PutRuns(s.t.Context(), rollout, []api.NodeRunItem{{Node: node, NodeRunSpec: spec}})
	if err != nil || answer.Items[0].Run == nil {
		s.t.Fatal(err, answer.Items)
	}
	return Recorded{answer.Rollout, *answer.Items[0].Run}
}

// Node reads node n<i>.
func (s *Sledd) Node(i int) api.Node {
	s.t.Helper()
	node, err := s.client.Node(s.t.Context(), MAC(i))
	if err != nil {
		s.t.Fatal(err)
	}
	return node
}
