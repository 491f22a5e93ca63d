// SPDX-License-Identifier: Apache-2.0

package erasure

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

// Verify checks a chain as exported: a record in each line, from number 1 on, and the head in the last. It returns the
// number of records. The error names the first line that is wrong.
func Verify(text []byte, public ed25519.PublicKey) (int, error) {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return 0, errors.New("the last line does not end with a newline: the file was cut")
	}
	lines := bytes.Split(text[:len(text)-1], []byte("\n"))
	previous := None
	for i, line := range lines[:len(lines)-1] {
		if err := verifyRecord(line, int64(i)+1, previous, public); err != nil {
			return i, fmt.Errorf("line %d: %w", i+1, err)
		}
		previous = Hash(line)
	}
	count := len(lines) - 1
	if err := verifyHead(lines[count], int64(count), previous, public); err != nil {
		return count, fmt.Errorf("line %d: %w", count+1, err)
	}
	return count, nil
}

func verifyRecord(line []byte, number int64, previous string, public ed25519.PublicKey) error {
	var record api.Erasure
	if err := strict(line, &record); err != nil {
		return err
	}
	if record.Number != number {
		return fmt.Errorf("record %d: want record %d: one was taken out, or added", record.Number, number)
	}
	text, err := recordText(record)
	if err != nil {
		return err
	}
	if err := checkSignature(public, text, record.Signature); err != nil {
		return fmt.Errorf("record %d: %w", number, err)
	}
	if record.Previous != previous {
		return fmt.Errorf("record %d: it follows another record than the one before it", number)
	}
	return nil
}

func verifyHead(line []byte, count int64, last string, public ed25519.PublicKey) error {
	var end headLine
	if err := strict(line, &end); err != nil {
		return fmt.Errorf("the head of the chain is missing: %w", err)
	}
	if end.Head.Number != count || end.Head.SHA256 != last {
		return fmt.Errorf("the chain has %d records, these are %d: some were taken out", end.Head.Number, count)
	}
	if err := checkSignature(public, headText(end.Head), end.Head.Signature); err != nil {
		return fmt.Errorf("head of the chain: %w", err)
	}
	return nil
}

// Export writes a chain as Verify reads it.
func Export(list api.ErasureList) ([]byte, error) {
	var out bytes.Buffer
	for _, record := range list.Items {
		line, err := Encode(record)
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	end, err := EncodeHead(list.Head)
	out.Write(append(end, '\n'))
	return out.Bytes(), err
}
