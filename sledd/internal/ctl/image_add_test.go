// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestImageIsAdded(t *testing.T) {
	s := begin(t)
	files := httptest.NewServer(http.FileServer(http.Dir("../../../contract/vectors/image")))
	t.Cleanup(files.Close)
	s.does(exitUsage, "image add", "--url URL is missing")
	s.does(exitDone, "image add --url "+files.URL+"/none --url "+files.URL+"/ok/gaps.raw.zst --name gaps -l os=debian",
		"8.39MB")
	digest := "sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383"
	s.does(exitDone, "image show gaps -o json", `"digest": "`+digest+`"`)
	s.does(exitDone, "image add --url "+files.URL+"/ok/one_chunk.raw.zst", "one_chunk")
	s.does(exitDone, "image add --url "+files.URL+"/ok/gaps.raw.zst", digest[:19]) // the same content at one URL
	s.does(exitConflict, "image add --name gaps --url "+files.URL+"/ok/one_chunk.raw.zst",
		"another content gets another name")
	s.does(exitFailed, "image add --url "+files.URL+"/bad/hash.raw.zst.none --name x", "answered 404")
	s.does(exitFailed, "image add --url "+files.URL+"/bad/flip_in_index.raw.zst --name x", "its index is damaged")
	s.does(exitFailed, "image add --url "+files.URL+"/ok/one_partition.raw.zst", "declare it with kind partition")
	s.does(exitDone, "image add --kind partition --url "+files.URL+"/ok/one_partition.raw.zst", "one_partition")
	s.does(exitNotFound, "image show x", "does not exist")
}
