// SPDX-License-Identifier: Apache-2.0

// Package multicast reads what the sender of images (sledc send) tells of itself: a file, written once a second, of
// lines in the grammar of plans.
package multicast

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

const (
	// fresh is how old the file of a sender that runs may be.
	fresh = 5 * time.Second
	// most is the size of the largest file: 16 sessions, each a line.
	most = 128 << 10
	// symbol is the payload of a packet (contract/multicast.md).
	symbol = 1408
)

// File is the path that the sender was given as state=. Empty: there is none.
type File string

// Read returns what the sender tells now. No file, or one that is not written any more: no sender runs.
func (f File) Read(now time.Time) (api.Multicast, error) {
	none := api.Multicast{Sessions: []api.MulticastSession{}, Refused: map[string]int64{}}
	if f == "" {
		return none, nil
	}
	file, err := os.Open(string(f))
	if os.IsNotExist(err) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %w", err)
	}
	if now.Sub(info.ModTime()) > fresh {
		return none, nil
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %w", err)
	}
	told, err := Parse(string(text))
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %s: %w", f, err)
	}
	return told, nil
}

// Parse reads the text of a file. Keys that it does not know are left out.
func Parse(text string) (api.Multicast, error) {
	told := api.Multicast{Running: true, Sessions: []api.MulticastSession{}, Refused: map[string]int64{}}
	lines, err := operand.Lines(text, 1000)
	if err != nil {
		return told, fmt.Errorf("not a state: %w", err)
	}
	for _, text := range lines {
		line, err := operand.Parse(text)
		if err != nil {
			return told, fmt.Errorf("not a state: %w", err)
		}
		switch line.Word {
		case "sender":
			told.Rate = number(line, "rate")
			for _, pair := range line.Operands {
				name, is := strings.CutPrefix(pair.Key, "refused_")
				if is || pair.Key == "limited" {
					told.Refused[name] = number(line, pair.Key)
				}
			}
		case "session":
			told.Sessions = append(told.Sessions, session(line))
		}
	}
	return told, nil
}

func session(line operand.Line) api.MulticastSession {
	words := line.Map()
	data, repairs := number(line, "data"), number(line, "repairs")
	found := api.MulticastSession{
		Image: words["image"], Digest: "sha256:" + words["digest"], Interface: words["interface"], Group: words["group"],
		Sending: words["sending"] == "1", Receivers: number(line, "receivers"), Rate: number(line, "rate"),
		Bytes: (data + repairs) * symbol, Repairs: repairs * symbol, Requests: number(line, "needs"),
		Done: number(line, "done"), Rejected: number(line, "rejected"), HTTP: number(line, "http"),
	}
	if symbols := number(line, "symbols"); symbols > 0 {
		found.Copies = float64(data+repairs) / float64(symbols)
	}
	return found
}

// number of a key; 0 if there is none.
func number(line operand.Line, key string) int64 {
	text, _ := line.Get(key)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
