// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
)

const images = "../../contract/vectors/image"

// unseen are the bad vectors whose fault lies in frames of data and gaps, which this package does not read.
var unseen = []string{
	"bomb_declares_2_63", "bomb_declares_gib", "bomb_decodes_64_mib", "flip_in_frame", "flip_in_gap",
	"frame_after_skippable", "frame_and_more", "frame_block_of_no_type", "frame_block_too_large", "frame_run_too_large",
	"frame_decodes_less", "frame_dictionary_field_of_0", "frame_is_noise",
	"frame_is_skippable", "frame_no_checksum", "frame_no_size", "frame_one_byte", "frame_reserved_bit",
	"frame_sequences_reserved_bit", "frame_too_long", "frame_too_short", "frame_unused_bit", "frame_window_128_kib",
	"frame_window_1_gib",
	"frame_window_1_kib", "frame_window_256_kib", "frame_window_2_mib", "frame_window_640_kib", "frame_with_dictionary",
	"frames_two_in_one", "free_granule_not_zeros", "gap_declares_less", "gap_ends_early", "gap_is_noise", "gap_of_ones",
	"gap_other_window", "hash",
}

// vector is one line of the manifest.
type vector struct {
	name string // such as ok/gaps
	code int    // 0: it is an image
}

func manifest(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(images, "manifest"))
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		code, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{strings.TrimSuffix(words[0], ".raw.zst"), code})
	}
	if len(all) < 100 {
		t.Fatalf("%d vectors", len(all))
	}
	return all
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(images, name+".raw.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func codeOf(err error) int {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

func TestVectorsAreTakenAsTheManifestSays(t *testing.T) {
	for _, v := range manifest(t) {
		if strings.HasPrefix(v.name, "ok/") || slices.Contains(unseen, strings.TrimPrefix(v.name, "bad/")) {
			v.code = 0
		}
		image, err := Parse(load(t, v.name))
		if got := codeOf(err); got != v.code {
			t.Errorf("%s: code %d, want %d: %v", v.name, got, v.code, err)
		}
		if (err == nil) != (image.Bytes > 0) {
			t.Errorf("%s: %+v and %v", v.name, image, err)
		}
	}
}

func TestImageIsReadWhole(t *testing.T) {
	for name, want := range map[string]Image{
		"ok/gaps": {Digest: "sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383",
			Bytes: 8 << 20, UsedBytes: 425984, FileBytes: 1283, Sector: 512,
			Partitions: []Partition{{1 << 20, 2 << 20, 8192, "ext4"}, {4 << 20, 3 << 20, 409600, "xfs"}}},
		"ok/sector_4096": {Digest: "sha256:420e39fb1407064d71de41c2d98b065320284a324407821c233b9015ba56d661",
			Bytes: 4 << 20, UsedBytes: 16384, FileBytes: 629, Sector: 4096, Partitions: []Partition{}},
		"ok/last_chunk_short": {Digest: "sha256:66029fc590c08781317bac2a65872f892d446b3e3b9fc5110a34e38c27bf8dfa",
			Bytes: 2101760, UsedBytes: 4608, FileBytes: 432, Sector: 512, Partitions: []Partition{}},
		"ok/no_chunk": {Digest: "sha256:7bcfa41ad9d6a524dd28e032a1307014ba4c665dcacc06f98c6496a6a66cc795", Bytes: 3146240,
			FileBytes: 343, Sector: 512, Partitions: []Partition{}},
	} {
		got, err := Parse(load(t, name))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}

func TestEveryMeasuredAttributeIsSet(t *testing.T) {
	image, err := Parse(load(t, "ok/gaps"))
	if err != nil {
		t.Fatal(err)
	}
	var spec api.ImageSpec
	image.Measure(&spec)
	for _, one := range attribute.Image {
		if one.Field(&spec).IsZero() == one.Measured {
			t.Errorf("%s: %v", one.Name, one.Field(&spec))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range manifest(f) {
		f.Add(load(f, v.name))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		image, err := Parse(file)
		if err != nil {
			if code := codeOf(err); code != integrity && code != unsupported {
				t.Errorf("code %d: %v", code, err)
			}
			return
		}
		if image.UsedBytes > image.Bytes || image.Bytes%image.Sector != 0 || image.FileBytes != int64(len(file)) {
			t.Errorf("%+v was taken", image)
		}
	})
}

// FuzzParseIndex goes where the digest bars the way of FuzzParse.
func FuzzParseIndex(f *testing.F) {
	for _, v := range manifest(f) {
		file := load(f, v.name)
		if at := strings.Index(string(file), "sled-img"); at >= 0 {
			end := strings.LastIndex(string(file), "sled-end")
			f.Add(file[at:max(at, end-skippable)])
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		i, err := parseIndex(payload)
		if err != nil {
			return
		}
		var used int64
		for _, c := range i.chunks {
			used += c.size
			if c.end() > i.bytes {
				t.Errorf("%+v lies past a disk of %d", c, i.bytes)
			}
		}
		if i.used > used {
			t.Errorf("%d bytes are used in chunks of %d", i.used, used)
		}
		if end, frames, err := lay(i); err == nil && i.bytes < 1<<36 {
			if table := seekTable(i, int64(len(payload)), frames); int64(len(table)) != tableSize(frames) || end < 0 {
				t.Errorf("a table of %d bytes for %d frames that end at %d", len(table), frames, end)
			}
		}
	})
}
