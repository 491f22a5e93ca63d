// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const (
	captureBegin = "begin step=1 of=2 verb=capture"
	captureEnd   = sleddtest.CaptureEnd
	rebootBegin  = "begin step=2 of=2 verb=reboot"
	rebootEnd    = "end step=2 verb=reboot code=0 seconds=0"
	capturedFile = "52-54-00-77-00-01-1-" + sleddtest.Upload + ".raw.zst" // of the first node
)

// capturing is a node that runs an image, is bound to be captured and has the plan.
func capturing(s *sledd, i int, name string) *sleddtest.Machine {
	s.Helper()
	s.Declare(i)
	s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i), Capture: name})
	m := s.Machine(i)
	want := fmt.Sprintf(
		"plan 1\ngeneration 1 run 1\ncapture disk=serial:LAB-%04d upload=https://10.77.0.1/upload/%s-1.raw.zst\nreboot\n",
		i, m.MAC)
	if plan := m.Poll(0); plan != want {
		s.Fatalf("plan:\n%swant:\n%s", plan, want)
	}
	return m
}

func (s *sledd) upload(m *sleddtest.Machine, want int, query string) {
	s.Helper()
	if a := s.Ask("GET", "/node/v1/"+m.MAC+"/upload"+query, m.Token, ""); a.Status != want {
		s.Fatalf("upload%s: got %d, want %d: %s", query, a.Status, want, a.Body)
	}
}

func TestLifeOfACapture(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	s.upload(m, http.StatusNoContent, "?generation=1")
	m.Report(captureBegin, "progress step=1 verb=capture bytes=1500000000 total=1500000000 rate=200000000")
	s.phase(1, api.Capturing)
	m.Report(captureEnd)
	m.Report(captureEnd) // once more: the answer may have been lost
	s.phase(1, api.Captured)
	s.upload(m, http.StatusForbidden, "?generation=1")
	m.Report(rebootBegin, rebootEnd)
	node := s.Node(1)
	if node.Status.Phase != api.Captured || !node.Binding.Satisfied || node.Status.OS != nil ||
		node.Status.Detail.String() != "packed" {
		t.Fatalf("afterwards: %+v", node)
	}
	image := as[api.Image](t, s.admin(http.StatusOK, "GET", "/v1/images/gold", nil))
	urls := []string{"http://10.77.0.1/images/captured/" + capturedFile,
		"http://10.77.0.2/images/captured/" + capturedFile}
	if image.Digest != digest || image.Bytes != 4294967296 || image.FileBytes != 612345678 ||
		!slices.Equal(image.URLs, urls) ||
		image.Labels["captured-from"] != "n1" || image.Signature != "" {
		t.Fatalf("image: %+v", image)
	}
	line := as[api.Timeline](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/timeline", nil))
	if last := line.Stages[len(line.Stages)-1]; last.Name != "capture" || last.Bytes != 1500000000 ||
		last.Rate != 200000000 {
		t.Fatalf("timeline: %+v", line)
	}
	if m := s.Machine(1); m.Token != "" {
		t.Fatal("a captured node boots the Sled system")
	}
	if again := s.Bind(api.BindingSpec{Node: "n1", Capture: "gold"}); again.Generation != 1 || !again.Satisfied {
		t.Fatalf("the same binding again: %+v", again)
	}
}

func TestAfterACapture(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	m.Report(captureBegin, captureEnd, rebootBegin, rebootEnd)
	s.admin(http.StatusNoContent, "DELETE", "/v1/bindings/n1", nil)
	if m := s.Machine(1); m.Token != "" {
		t.Fatal("a captured node that is not bound boots the Sled system")
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "gold"})
	m = s.Machine(1)
	if plan := m.Poll(0); !strings.Contains(plan, "generation 2 run 2\nwipe ") {
		t.Fatalf("plan: %s", plan)
	}
	install(m)
	s.phase(1, api.Starting)
	if node := s.Node(1); node.Status.DiskKept || node.Status.Image != "gold" {
		t.Fatalf("status: %+v", node.Status)
	}
}

func TestCapturesThatAreRefused(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	s.Register("d12")
	put := func(want int, body any, says string) {
		t.Helper()
		if a := s.admin(want, "PUT", "/v1/bindings/n1", body); !strings.Contains(a.Body, says) {
			t.Errorf("%s, want %q", a.Body, says)
		}
	}
	put(http.StatusUnprocessableEntity, api.BindingSpec{Node: "n1", Capture: "d12"}, "image d12 exists")
	put(http.StatusUnprocessableEntity, api.BindingSpec{Node: "n1", Capture: "x", Image: "d12"}, "not both")
	put(http.StatusUnprocessableEntity, api.BindingSpec{Node: "n1", Capture: "A b"}, "pattern")
	many := bulk(api.BindingSpec{Node: "n1", Capture: "x"}, api.BindingSpec{Node: "n2", Capture: "x"})
	if a := s.admin(http.StatusUnprocessableEntity, "POST", "/v1/bindings", many); !strings.Contains(a.Body,
		"item 0 is to become image x already") {
		t.Error(a.Body)
	}
	s.Fleet.UploadURL = ""
	put(http.StatusUnprocessableEntity, api.BindingSpec{Node: "n1", Capture: "x"}, "--upload-url")
}

func TestCaptureThatFails(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	m.Report(captureBegin, "end step=1 verb=capture code=6 seconds=2 reason=no%20answer detail=packed")
	node := s.Node(1)
	if node.Status.Phase != api.Failed || node.Status.Code != 6 || node.Status.Reason.String() != "no answer" ||
		node.Binding.Satisfied {
		t.Fatalf("status: %+v", node.Status)
	}
	s.admin(http.StatusNotFound, "GET", "/v1/images/gold", nil)
	s.upload(m, http.StatusNoContent, "?generation=1") // tried again by hand
	if m := s.Machine(1); m.Token == "" {
		t.Fatal("a node whose capture failed is not tried again")
	}
	s.admin(http.StatusNoContent, "DELETE", "/v1/bindings/n1", nil)
	if m := s.Machine(1); m.Token != "" {
		t.Fatal("nothing wrote to its disk, and it does not boot it")
	}
}

func TestCaptureUnderANameThatWasTaken(t *testing.T) {
	for says, end := range map[string]string{
		"image gold was registered meanwhile": captureEnd,
		"did not say what it made":            "end step=1 verb=capture code=0 seconds=7.5",
	} {
		s := fresh(t)
		m := capturing(s, 1, "gold")
		s.Register("gold")
		m.Report(captureBegin, end)
		m.Report(end)
		m.Report(rebootBegin, rebootEnd)
		node := s.Node(1)
		if node.Status.Phase != api.Failed || node.Status.Code != 0 || !strings.Contains(node.Status.Reason.String(),
			says) {
			t.Errorf("status: %+v", node.Status)
		}
		list := as[api.EventList](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/events", nil)).Items
		told := slices.IndexFunc(list, func(e api.Event) bool {
			return e.Kind == "end" && e.Verb == "capture" && e.Phase == api.Failed
		})
		if told < 0 || !strings.Contains(list[told].Detail.String(), says) {
			t.Errorf("events: %+v", list)
		}
		if m := s.Machine(1); m.Token != "" {
			t.Error("the node is captured over and over")
		}
	}
}

func TestAnUploadThatWasCutIsRepeated(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	s.upload(m, http.StatusNoContent, "?generation=1")
	s.upload(m, http.StatusNoContent, "?generation=1")
	m.Reboot()
	m.Poll(0)
	s.upload(m, http.StatusNoContent, "?generation=1")
}

func TestANodeUploadsUnderOneOfItsMACs(t *testing.T) {
	s := fresh(t)
	twin(s)
	s.Bind(api.BindingSpec{Node: "n1", Capture: "gold"})
	m := s.Machine(1)
	m.Poll(0)
	s.upload(m, http.StatusNoContent, "?generation=1")
	m.MAC = strings.ReplaceAll(address(4), ":", "-")
	s.upload(m, http.StatusForbidden, "?generation=1")
}

func TestAnImageLargerThanTheDiskIsRefused(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	m.Facts() // a disk of 4 GiB
	m.Report(captureBegin, strings.Replace(captureEnd, "file_bytes=612345678", "file_bytes=4724464026", 1))
	node := s.Node(1)
	if node.Status.Phase != api.Failed || !strings.Contains(node.Status.Reason.String(), "(4724464025)") {
		t.Errorf("%+v", node.Status)
	}
	s.admin(http.StatusNotFound, "GET", "/v1/images/gold", nil)
}

func TestUploadNeedsTheTokenOfThatNodeAndGeneration(t *testing.T) {
	s := fresh(t)
	m := capturing(s, 1, "gold")
	other := capturing(s, 2, "silver")
	for token, want := range map[string]int{"": http.StatusUnauthorized, "sledb_x": http.StatusUnauthorized,
		other.Token: http.StatusForbidden,
		adminToken:  http.StatusUnauthorized} {
		if a := s.Ask("GET", "/node/v1/"+m.MAC+"/upload?generation=1", token, ""); a.Status != want {
			t.Errorf("token %q: got %d, want %d", token, a.Status, want)
		}
	}
	s.upload(m, http.StatusForbidden, "")
	s.upload(m, http.StatusForbidden, "?generation=0")
	s.upload(m, http.StatusForbidden, "?generation=2")
	s.Bind(api.BindingSpec{Node: "n1"})
	s.upload(m, http.StatusForbidden, "?generation=1")
	s.upload(m, http.StatusForbidden, "?generation=2")
	m.Poll(0) // the token of the new binding, which requests a wipe
	s.upload(m, http.StatusForbidden, "?generation=2")
	s.upload(other, http.StatusNoContent, "?generation=1")
}
