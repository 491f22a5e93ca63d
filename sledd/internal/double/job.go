// SPDX-License-Identifier: Apache-2.0

package double

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// Payload is what a machine runs as a job, or what it is bound to.
type Payload struct {
	Seconds float64 `json:"seconds"` // that it runs
	Exit    int     `json:"exit"`
	Output  int     `json:"output"` // bytes of standard output, as Printed makes them
	Errors  int     `json:"errors"` // bytes of standard error
	Prints  string  `json:"prints"` // by a kernel, on its console
	Back    bool    `json:"back"`   // a kernel restarts the machine, without a confirmation
	Forges  bool    `json:"forges"` // the files at the boot server are others than the report states
	Folder  string  `json:"folder"` // where files are stored, once sledd permits it; empty: put to the URL of the plan
}

// Cut is a power cut, after which the machine starts again.
type Cut struct {
	While string  `json:"while"` // fetch, run, or end: of the payload, while its output and its end are sent
	Part  float64 `json:"part"`  // of that time has passed, 0 to 1
	Times int     `json:"times"`
}

// errCut: the power was cut.
var errCut = errors.New("power cut")

const segment = 256 << 10 // bytes of a file of a job

// Printed is what the payload of a job prints on a stream, out or err.
func Printed(job, stream string, size int) []byte {
	text := make([]byte, size)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(job + stream))).Read(text) // never fails
	return text
}

// cutAt cuts the power if the settings have it for that moment.
func (n *node) cutAt(while string, part float64) error {
	cut := n.Settings.Cut
	if cut.While != while || part < cut.Part {
		return nil
	}
	is, err := n.count("cut", cut.Times)
	if err == nil && is {
		n.say("power cut, %.0f %% of %s", 100*part, while)
		return errCut
	}
	return err
}

// job runs the payload of a step, and returns what its end reports.
func (n *node) job(ctx context.Context, step operand.Line) ([]operand.Pair, error) {
	operands := step.Map()
	id := operands["job"]
	path := "/node/v1/" + n.client.mac + "/job"
	status, text, err := n.ask(ctx, http.MethodGet, path+"?job="+id, n.token, "")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK || !strings.Contains(text, "config.json") {
		return nil, fmt.Errorf("job %s: %d: %.200s", id, status, text)
	}
	if err := n.write("ran", n.read("ran")+id+"\n"); err != nil {
		return nil, err
	}
	n.say("payload of job %s starts", id)
	by, err := n.payload(ctx, path+"/signal?job="+id)
	if err != nil {
		return nil, err
	}
	return n.ended(ctx, operands["upload"], id, by)
}

// payload passes the time of the payload, and returns what ended it.
func (n *node) payload(ctx context.Context, signal string) (string, error) {
	length := seconds(n.Settings.Payload.Seconds)
	if cut := n.Settings.Cut; cut.While == "run" {
		before := time.Duration(cut.Part * float64(length))
		if err := pause(ctx, before); err != nil {
			return "", err
		}
		if err := n.cutAt("run", cut.Part); err != nil {
			return "", err
		}
		length -= before
	}
	begin := time.Now()
	status, text, err := n.ask(ctx, http.MethodGet, fmt.Sprintf("%s&wait=%d", signal, length/time.Second), n.token, "")
	if err != nil && !errors.Is(err, errToken) { // else the payload continues
		return "", err
	}
	if status == http.StatusOK {
		n.say("the payload gets %s", strings.TrimSpace(text))
		return "cancel", nil
	}
	return "payload", pause(ctx, length-time.Since(begin))
}

// ended sends the output, and returns how the payload has ended.
func (n *node) ended(ctx context.Context, upload, id, by string) ([]operand.Pair, error) {
	made := []operand.Pair{{Key: "exit", Value: fmt.Sprint(n.Settings.Payload.Exit)}, {Key: "by", Value: by}}
	if by == "cancel" {
		made[0] = operand.Pair{Key: "signal", Value: "15"}
	}
	missing, sizes := []string{}, []int{n.Settings.Payload.Output, n.Settings.Payload.Errors}
	for i, stream := range []string{"out", "err"} {
		size := sizes[i]
		text := Printed(id, stream, size)
		sum := sha256.Sum256(text)
		if n.Settings.Payload.Forges && size > 0 {
			sum[0]++
		}
		made = append(made, operand.Pair{Key: stream, Value: fmt.Sprint(size)},
			operand.Pair{Key: stream + "_sha256", Value: hex.EncodeToString(sum[:])})
		if err := n.cutAt("end", float64(i)/4); err != nil {
			return nil, err
		}
		taken, err := n.upload(ctx, upload, id, stream, text)
		if err != nil {
			return nil, err
		}
		if !taken {
			missing = append(missing, stream)
		}
	}
	if len(missing) > 0 {
		made = append(made, operand.Pair{Key: "missing", Value: strings.Join(missing, ",")})
	}
	return append(made, operand.Pair{Key: "files", Value: "0"}, operand.Pair{Key: "files_sha256", Value: ""}),
		n.cutAt("end", 0.5)
}

// upload puts a stream, segment by segment. False: one was refused, and the rest is dropped.
func (n *node) upload(ctx context.Context, upload, id, stream string, text []byte) (bool, error) {
	number := 0
	for part := range slices.Chunk(text, segment) {
		number++
		name := fmt.Sprintf("%s.%06d", stream, number)
		put := n.put
		if n.Settings.Payload.Folder != "" {
			put = n.store
		}
		if taken, err := put(ctx, upload, id, name, part); err != nil || !taken {
			return false, err
		}
	}
	return true, nil
}

// put puts a file to the web server.
func (n *node) put(ctx context.Context, upload, _, name string, text []byte) (bool, error) {
	for {
		status, _, wait, err := n.once(ctx, http.MethodPut, upload+"/"+name, n.token, string(text))
		if err == nil && (status < http.StatusInternalServerError && status != http.StatusTooManyRequests ||
			status == http.StatusInsufficientStorage) {
			return status < http.StatusMultipleChoices, nil
		}
		if err := pause(ctx, wait); err != nil {
			return false, err
		}
	}
}

// store does what the web server does with a file that is put: asks sledd, and stores it whole.
func (n *node) store(ctx context.Context, _, id, name string, text []byte) (bool, error) {
	status, _, err := n.ask(ctx, http.MethodGet, "/node/v1/jobs/"+id+"/"+name, n.token, "")
	if errors.Is(err, errToken) {
		return false, nil
	}
	if err != nil || status != http.StatusNoContent {
		return false, err
	}
	folder := filepath.Join(n.Settings.Payload.Folder, "jobs", id)
	file := filepath.Join(folder, name)
	err = errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(file+".part", text, 0o600), os.Rename(file+".part", file))
	return err == nil, err //nolint:wrapcheck // names the file
}

// refused reports whether a step is not run because sledd refused its beginning: the next plan is requested.
func refused(err error, p plan.Plan) bool {
	last := p.Steps[len(p.Steps)-1].Word
	return errors.Is(err, errToken) && (last == "run" || last == "start")
}
