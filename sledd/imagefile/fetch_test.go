// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// serve returns the URL of a server that answers so, and how often it was asked.
func serve(t *testing.T, answer http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/image.raw.zst", &asked
}

func whole(file []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

func partial(contentRange string, headers ...string) http.HandlerFunc {
	return status(http.StatusPartialContent, append(headers, "Content-Range", contentRange)...)
}

// trickle says how much comes, and then a byte of it.
func trickle(w http.ResponseWriter, r *http.Request) {
	partial("bytes 0-99/100")(w, r)
	_, _ = w.Write([]byte{0})
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// then answers the first request well and the others so.
func then(first []byte, others http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
			whole(first)(w, r)
			return
		}
		others(w, r)
	}
}

// large is an image of a full disk whose index does not fit into the tail. Its frames are one byte each, and no zstd.
func large(t *testing.T) []byte {
	t.Helper()
	const chunks = 3500
	i := index{sector: 512, bytes: chunks * chunkBytes, used: chunks * chunkBytes}
	payload := little.AppendUint32(little.AppendUint32([]byte("sled-img"), 1), 512)
	payload = little.AppendUint64(little.AppendUint64(payload, uint64(i.bytes)), uint64(i.used))
	payload = little.AppendUint32(little.AppendUint32(payload, chunks), 0)
	for n := range int64(chunks) {
		c := chunk{n * chunkBytes, chunkBytes, n, 1}
		i.chunks = append(i.chunks, c)
		payload = little.AppendUint64(little.AppendUint64(payload, uint64(c.offset)), uint64(c.at))
		payload = append(little.AppendUint32(payload, uint32(c.frame)), bytes.Repeat([]byte{255}, 32)...)
		payload = append(payload, make([]byte, 32)...)
	}
	sum := sha256.Sum256(payload)
	file := append(make([]byte, chunks), little.AppendUint32(little.AppendUint32(nil, indexMagic),
		uint32(len(payload)))...)
	file = append(file, payload...)
	file = little.AppendUint32(little.AppendUint32(file, trailerMagic), trailerSize)
	file = little.AppendUint64(append(file, "sled-end\x01\x00\x00\x00\x00\x00\x00\x00"...), chunks+skippable)
	file = append(append(little.AppendUint64(file, uint64(len(payload))), sum[:]...), make([]byte, 72)...)
	file = append(file, seekTable(i, int64(len(payload)), chunks)...)
	if len(payload) < tailBytes {
		t.Fatalf("an index of %d bytes is not large", len(payload))
	}
	return file
}

func TestImageIsFetched(t *testing.T) {
	for name, one := range map[string]struct {
		file  []byte
		asked int64
	}{"small": {load(t, "ok/gaps"), 1}, "large": {large(t), 2}} {
		url, asked := serve(t, whole(one.file))
		got, err := Fetcher{}.Fetch(t.Context(), url)
		want, wrong := Parse(one.file)
		if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v, %v", name, got, err, want, wrong)
		}
		if asked.Load() != one.asked {
			t.Errorf("%s: %d requests, want %d", name, asked.Load(), one.asked)
		}
	}
}

func TestServersAtFault(t *testing.T) {
	file := large(t)
	for want, answer := range map[string]http.HandlerFunc{
		"does not know HTTP ranges":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) },
		"answered 404 Not Found":             http.NotFound,
		"answered 503":                       status(http.StatusServiceUnavailable),
		`302 Found to "http://b/i": nodes`:   status(http.StatusFound, "Location", "http://b/i"),
		"encoded body (gzip)":                partial("bytes 0-9/10", "Content-Encoding", "gzip"),
		`Content-Range ""`:                   status(http.StatusPartialContent),
		`"bytes 0-9/*"`:                      partial("bytes 0-9/*"),
		`"bytes 9-0/10", which cannot be`:    partial("bytes 9-0/10"),
		`"bytes 0-10/10", which cannot be`:   partial("bytes 0-10/10"),
		"value out of range":                 partial("bytes 0-99999999999999999999/10"),
		`"bytes 0-999999999/1000000000", wh`: partial("bytes 0-999999999/1000000000"),
		"broke off: unexpected EOF":          partial("bytes 0-99/100", "Content-Length", "100"),
		"want the last 262144": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-0/100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte{0})
		},
		"silent for 2s":            func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"broke off: silent for 2s": trickle,
		"answered 500":             then(file, status(http.StatusInternalServerError)),
		"of 325726, want":          then(file, whole(append(file, 0))),
	} {
		url, _ := serve(t, answer)
		var fetcher Fetcher // with a limit that a busy machine does not reach
		if strings.Contains(want, "silent") {
			fetcher.Stall = 2 * time.Second
		}
		_, err := fetcher.Fetch(t.Context(), url)
		if err == nil || IsRefused(err) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), url+": ") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A disk is wiped for an image of kind disk, so nothing else may have that kind.
func TestTheKindIsThatOfTheFile(t *testing.T) {
	for _, c := range []struct {
		name, kind, want string
	}{
		{"ok/one_partition", "partition", ""}, {"ok/gaps", "", ""}, {"ok/gaps", "root", ""},
		{"ok/one_partition", "", "declare it with kind partition, not disk"},
		{"ok/one_partition", "root", "declare it with kind partition, not root"},
		{"ok/gaps", "partition", "it is not of one partition, as its kind states"},
	} {
		image, err := Parse(load(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		err = image.CheckKind(api.ImageSpec{Kind: c.kind})
		if (err == nil) != (c.want == "") || err != nil && (!IsRefused(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s as %q: %v, want %s", c.name, c.kind, err, c.want)
		}
	}
}

func TestImagesAtFault(t *testing.T) {
	cut := large(t)
	for want, file := range map[string][]byte{
		"does not end as an image": load(t, "bad/cut_by_a_byte"), "its index is damaged": load(t, "bad/flip_in_index"),
		"its trailer is damaged":                          load(t, "bad/trailer_signature_of_version_1"),
		"has version 2, 1 is read":                        load(t, "bad/version_2_trailer"),
		"its index is not at the position in the trailer": cut[1000:],
	} {
		url, _ := serve(t, whole(file))
		_, err := Fetcher{}.Fetch(t.Context(), url)
		if !IsRefused(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	url, _ := serve(t, status(http.StatusOK))
	if _, err := (Fetcher{}).Fetch(t.Context(), url); !IsRefused(err) || !strings.Contains(err.Error(), "it has 0 bytes") {
		t.Error(err)
	}
}

func TestFirstThatAnswers(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	missing, _ := serve(t, http.NotFound)
	damaged, _ := serve(t, whole(load(t, "bad/flip_in_index")))
	good, asked := serve(t, whole(load(t, "ok/gaps")))

	image, faults, err := Fetcher{}.First(t.Context(), []string{away.URL, missing, good, damaged})
	if err != nil || image.UsedBytes != 425984 || len(faults) != 2 ||
		!strings.Contains(faults[0].Error(), "connection refused") {
		t.Errorf("%+v, %v, %v", image, faults, err)
	}
	if _, _, err := (Fetcher{}).First(t.Context(), []string{damaged, good}); !IsRefused(err) || asked.Load() != 1 {
		t.Errorf("%v after %d requests: a damaged image is no reason to ask the next server", err, asked.Load())
	}
	_, _, err = Fetcher{}.First(t.Context(), []string{away.URL, missing})
	if err == nil || IsRefused(err) || !strings.Contains(err.Error(), away.URL) ||
		!strings.Contains(err.Error(), missing+": answered 404") {
		t.Errorf("%v does not say what is wrong with each", err)
	}
}

func TestDeadlineOfOneServer(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		partial("bytes 0-199999/200000")(w, r)
		for r.Context().Err() == nil { // never silent, never done
			_, _ = w.Write([]byte{0})
			_ = http.NewResponseController(w).Flush()
		}
	})
	_, err := Fetcher{Most: 100 * time.Millisecond}.Fetch(t.Context(), url)
	if err == nil || !strings.Contains(err.Error(), "not done after 100ms") {
		t.Error(err)
	}
}
