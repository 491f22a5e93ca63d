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
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
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
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than %d bytes", f, most)
	}
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %w", err)
	}
	told, err := Parse(string(text))
	if err != nil {
		return none, fmt.Errorf("state of the multicast sender: %s: %w", f, err)
	}
	return told, nil
}

// Parse reads the text of a file. Keys that it does not know are left out. The sender hears anybody on the boot
// network, so its text is checked as that of a node is.
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
			found, err := session(line)
			if err != nil {
				return told, fmt.Errorf("not a state: session: %w", err)
			}
			told.Sessions = append(told.Sessions, found)
		}
	}
	return told, twice(told.Sessions)
}

// twice refuses two lines of one image: which is right is not known.
func twice(sessions []api.MulticastSession) error {
	type key struct{ image, from api.Identifier }
	seen := map[key]bool{}
	for _, s := range sessions {
		if seen[key{s.Image, s.Interface}] {
			return fmt.Errorf("not a state: two sessions of image %s by interface %s", s.Image, s.Interface)
		}
		seen[key{s.Image, s.Interface}] = true
	}
	return nil
}

func session(line operand.Line) (api.MulticastSession, error) {
	words := line.Map()
	data, repairs := number(line, "data"), number(line, "repairs")
	found := api.MulticastSession{
		Sending: words["sending"] == "1", Receivers: number(line, "receivers"), Rate: number(line, "rate"),
		Bytes: (data + repairs) * symbol, Repairs: repairs * symbol, Requests: number(line, "needs"),
		Done: number(line, "done"), Rejected: number(line, "rejected"), HTTP: number(line, "http"),
	}
	if symbols := number(line, "symbols"); symbols > 0 {
		found.Copies = float64(data+repairs) / float64(symbols)
	}
	for name, into := range map[string]*api.Identifier{"image": &found.Image, "interface": &found.Interface,
		"group": &found.Group} {
		var err error
		if *into, err = nodetext.ParseIdentifier(words[name]); err != nil {
			return found, fmt.Errorf("%s=%q: %w", name, words[name], err)
		}
	}
	var err error
	if found.Digest, err = nodetext.ParseDigest("sha256:" + words["digest"]); err != nil {
		return found, fmt.Errorf("digest=%q: %w", words["digest"], err)
	}
	return found, nil
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
