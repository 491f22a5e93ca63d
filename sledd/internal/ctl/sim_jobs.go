// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	machines "github.com/sled-fleet/sled/sledd/internal/double"
)

// simLabel is that of all simulated nodes that get jobs.
var simLabel = map[string]string{"sledctl": "sim"}

// simulatedJobs is the result of a simulation of jobs.
type simulatedJobs struct {
	Jobs    int                  `json:"jobs"`
	Ended   map[api.JobState]int `json:"ended"`
	Started float64              `json:"started_seconds"` // from the first request until the last payload was started
	List    float64              `json:"list_seconds"`
	Bytes   int64                `json:"store_bytes_per_job"`
}

// runJobs requests a job for each node, once all wait.
func (s *sim) runJobs(ctx context.Context) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	macs := make([]string, s.nodes)
	for i := range macs {
		macs[i] = fmt.Sprintf(simMAC, i>>16, i>>8&0xff, i&0xff)
		spec := api.NodeSpec{MAC: macs[i], Name: fmt.Sprintf(simNode, i+1), Disk: "only", Labels: simLabel}
		if _, err := client.PutNode(ctx, spec); err != nil {
			return err //nolint:wrapcheck // names the node
		}
	}
	directory, err := os.MkdirTemp("", "sledctl-sim")
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	target, err := s.target()
	if err != nil {
		return err
	}
	fleet := &machines.Fleet{Dir: directory, Loss: s.loss, Seed: s.seed, History: io.Discard,
		Settings: machines.Settings{Server: target.Server, CA: target.CAFile, StepSeconds: s.seconds, Payload: s.payload}}
	ctx, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		failed <- fleet.Run(ctx, macs)
		stop() // nothing happens without machines
	}()
	result, err := s.measureJobs(ctx, client)
	stop()
	if broken := <-failed; broken != nil {
		return fmt.Errorf("sim: %w", broken)
	}
	if err != nil {
		return err
	}
	return s.show(result, func() {
		s.Section("simulation", [][2]string{{"jobs", strconv.Itoa(result.Jobs)}, {"ended", fmt.Sprint(result.Ended)},
			{"all started", fmt.Sprintf("%.1f s", result.Started)}, {"list", fmt.Sprintf("%.3f s", result.List)},
			{"store", fmt.Sprintf("%d bytes per job", result.Bytes)}})
	})
}

// measureJobs requests the jobs, and waits until all have ended.
func (s *sim) measureJobs(ctx context.Context, client *api.Client) (result simulatedJobs, err error) {
	err = every(ctx, func() (bool, error) {
		waiting := 0
		for _, err := range client.Nodes(ctx, api.Filter{Phases: []api.Phase{api.Idle}}) {
			if err != nil {
				return false, err
			}
			waiting++
		}
		return waiting >= s.nodes, nil
	})
	if err != nil {
		return result, err
	}
	before, err := client.HealStore(ctx)
	if err != nil {
		return result, err //nolint:wrapcheck // clear enough
	}
	begin := time.Now()
	for range s.nodes {
		if _, err := client.CreateJob(ctx, api.JobSpec{Labels: simLabel, Image: s.image}); err != nil {
			return result, err //nolint:wrapcheck // clear enough
		}
	}
	var jobs []api.Job
	err = every(ctx, func() (bool, error) {
		asked := time.Now()
		jobs, err = client.Jobs(ctx, api.JobFilter{Limit: min(s.nodes, mostJobs)})
		result = simulatedJobs{Jobs: len(jobs), Ended: map[api.JobState]int{}, List: time.Since(asked).Seconds()}
		ended := 0
		for _, job := range jobs {
			result.Started = max(result.Started, job.Started.Sub(begin).Seconds())
			if job.State.Ended() {
				result.Ended[job.State]++
				ended++
			}
		}
		return ended == len(jobs), err
	})
	after, stored := client.HealStore(ctx)
	result.Bytes = (after.InUse - before.InUse) / int64(s.nodes)
	return result, errors.Join(err, stored)
}

// mostJobs that a list has.
const mostJobs = 1000

// every asks each half second until something is so.
func every(ctx context.Context, is func() (bool, error)) error {
	for {
		if done, err := is(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // interrupted
		case <-time.After(followEvery):
		}
	}
}
