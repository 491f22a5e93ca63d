// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func TestNodesAreComparedAndSwapped(t *testing.T) {
	s := fresh(t)
	spec := api.NodeSpec{MAC: address(1), Name: "n1", Disk: "only", Labels: map[string]string{"rack": "a"}}
	first := s.admin(200, "PUT", "/v1/nodes/n1", spec, "If-None-Match", "*").Header.Get("ETag")
	s.admin(412, "PUT", "/v1/nodes/n1", spec, "If-None-Match", "*")
	if again := s.admin(200, "PUT", "/v1/nodes/52-54-00-77-00-01", spec).Header.Get("ETag"); again != first {
		t.Errorf("the same declaration changed the revision: %s, %s", first, again)
	}
	spec.Labels["rack"] = "b"
	s.admin(412, "PUT", "/v1/nodes/n1", spec, "If-Match", `"1"`)
	s.admin(412, "PUT", "/v1/nodes/n9", api.NodeSpec{MAC: address(9), Name: "n9"}, "If-Match", "*")
	second := s.admin(200, "PUT", "/v1/nodes/n1", spec, "If-Match", first).Header.Get("ETag")
	if got := s.admin(200, "GET", "/v1/nodes/n1", nil); got.Header.Get("ETag") != second ||
		!strings.Contains(got.Body, `"rack":"b"`) {
		t.Errorf("%+v", got)
	}
	s.admin(412, "DELETE", "/v1/nodes/n1", nil, "If-Match", first)
	s.admin(412, "POST", "/v1/nodes/n1/replace", api.ReplaceSpec{MAC: address(9)}, "If-Match", first)
	s.admin(204, "DELETE", "/v1/nodes/n1", nil, "If-Match", second)
	s.admin(404, "GET", "/v1/nodes/n1", nil)
	s.admin(404, "GET", "/v1/nodes/"+address(1), nil)
	s.admin(404, "DELETE", "/v1/nodes/n1", nil)
}

func TestRequestsThatCannotBeMeant(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.admin(200, "PUT", "/v1/nodes/bare", api.NodeSpec{MAC: address(2), Name: "bare"})
	s.admin(200, "PUT", "/v1/nodes/arm", api.NodeSpec{MAC: address(3), Name: "arm", Architecture: "arm64", Disk: "only"})
	s.Register("d12")
	kernel := api.ImageSpec{Name: "kernel", Digest: digest, URLs: []string{"http://a/b"}, Bytes: 512, FileBytes: 1,
		Kind: "kernel"}
	s.admin(200, "PUT", "/v1/images/kernel", kernel)
	for _, c := range []struct{ method, path, body, location, says string }{
		{"PUT", "/v1/nodes/n2", `{"mac":"52:54:00:77:00:04","name":"n3"}`, "path.node", "n2"},
		{"PUT", "/v1/nodes/n2", `{"mac":"52:54:00:77:00:0A","name":"n2"}`, "body.mac", ""},
		{"PUT", "/v1/nodes/52-54-00-77-00-04", `{"mac":"52:54:00:77:00:04","name":"52-54-00-77-00-04"}`, "body.name",
			"looks like a MAC"},
		{"PUT", "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1","disk":"/dev/sda"}`, "body.disk", "/dev/sda"},
		{"PUT", "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1","keep_disks":["only","serial:"]}`,
			"body.keep_disks[1]", "no value"},
		{"PUT", "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1","colour":"red"}`, "body.colour", ""},
		{"PUT", "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1","boot_order":"cdrom"}`, "body.boot_order", ""},
		{"PUT", "/v1/nodes/n1", `{"mac":"52:54:00:77:00:01","name":"n1","network":"static"}`, "body.network", "dhcp"},
		{"POST", "/v1/nodes/n1/replace", `{"mac":"52-54-00-77-00-09"}`, "body.mac", ""},
		{"PUT", "/v1/images/x", `{"name":"x","digest":"` + digest + `","urls":["ftp://a/b"],"bytes":512,"file_bytes":1}`,
			"body.urls[0]", "ftp"},
		{"PUT", "/v1/images/x", `{"name":"y","digest":"` + digest + `","urls":["http://a/b"],"bytes":512,"file_bytes":1}`,
			"path.name", "y"},
		{"PUT", "/v1/images/x", `{"name":"x","digest":"` + digest + `","urls":["http://a/b"],"bytes":512,"file_bytes":1,` +
			`"container":{"command":["a"]}}`, "body.container", "image x has kind disk"},
		{"PUT", "/v1/images/x", `{"name":"x","digest":"` + digest + `","urls":["http://a/b"],"bytes":512,"file_bytes":1,` +
			`"kernel":{"release":"6.12.1"}}`, "body.kernel", "image x has kind disk"},
		{"PUT", "/v1/bindings/n1", `{"node":"n1","image":"none"}`, "body.image", "none"},
		{"PUT", "/v1/bindings/n1", `{"node":"bare","image":"d12"}`, "body.node", "bare"},
		{"PUT", "/v1/bindings/bare", `{"node":"bare","image":"d12"}`, "body.disk", "no disk"},
		{"PUT", "/v1/bindings/arm", `{"node":"arm","image":"d12"}`, "body.image", "arm64"},
		{"PUT", "/v1/bindings/n1", `{"node":"n1","image":"kernel"}`, "body.image", "image kernel is a kernel for"},
		{"PUT", "/v1/bindings/n1", `{"node":"n1","disk":"sda"}`, "body.disk", "sda"},
		{"PUT", "/v1/bindings/n1", `{"node":"n1","authorized_keys":["a\nb"]}`, "body.authorized_keys[0]", "one line"},
		{"GET", "/v1/nodes?label=rack", "", "query.label[0]", "KEY=VALUE"},
		{"GET", "/v1/nodes?phase=asleep", "", "query.phase[0]", ""},
		{"GET", "/v1/nodes?phase=idle&phase=asleep", "", "query.phase[1]", ""},
	} {
		a := s.Ask(c.method, c.path, adminToken, c.body)
		if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, `"`+c.location+`"`) ||
			!strings.Contains(a.Body, c.says) {
			t.Errorf("%s %s %s: got %d, want 422 with %s and %q: %s", c.method, c.path, c.body, a.Status, c.location,
				c.says, a.Body)
		}
	}
	s.admin(404, "PUT", "/v1/bindings/n8", api.BindingSpec{Node: "n8"})
	s.admin(204, "DELETE", "/v1/nodes/bare", nil)
}

// answers are those of all requests that change nothing.
func (s *sledd) answers() string {
	s.Helper()
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(s.admin(200, "GET", "/openapi.json", nil).Body), &document); err != nil {
		s.Fatal(err)
	}
	names := strings.NewReplacer("{node}", "n1", "images/{name}", "images/d12", "operators/{name}", "admin")
	all := s.admin(200, "GET", "/metrics", nil).Body
	for path, methods := range document.Paths {
		if path = names.Replace(path); methods["get"] != nil && path != "/v1/events" && !strings.Contains(path, "{") {
			all += s.Ask("GET", path, adminToken, "").Body
		}
	}
	return all
}

func TestUserDataIsNeverInAnAnswer(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	const secret = "#!very-secret-thing"
	spec := api.BindingSpec{Node: "n1", Image: "d12", UserData: secret}
	stream := s.follow("", 0)
	answers := s.admin(200, "PUT", "/v1/bindings/n1", spec).Body
	answers += s.admin(200, "POST", "/v1/bindings", bulk(spec)).Body
	answers += s.admin(200, "PUT", "/v1/bindings/n1?dry_run=true", spec).Body + s.answers()
	event := <-stream.events
	answers += fmt.Sprintf("%+v", event)
	plain := sha256.Sum256([]byte(secret))
	if strings.Contains(answers, secret) || strings.Contains(answers, hex.EncodeToString(plain[:])) {
		t.Error("user data or its plain hash is in an answer")
	}
	if keyed := strings.Count(answers, s.HashOf(secret)); keyed < 5 {
		t.Errorf("its keyed hash is in %d answers", keyed)
	}
	binding := as[api.Binding](t, s.admin(200, "GET", "/v1/bindings/n1", nil))
	if binding.UserDataSHA256 != s.HashOf(secret) {
		t.Errorf("%+v", binding)
	}
}

func TestBulkBind(t *testing.T) {
	const nodes = 3000
	s := fresh(t)
	s.Register("d12")
	specs := make([]api.BindingSpec, nodes)
	s.DeclareMany(nodes)
	for i := range specs {
		specs[i] = api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "d12"}
		if i%2 == 1 {
			specs[i].Node = address(i)
		}
	}
	list := as[api.BindingList](t, s.admin(200, "POST", "/v1/bindings", bulk(specs...)))
	for i, binding := range list.Items {
		if binding.MAC != address(i) || binding.Generation != 1 || binding.Revision == 0 {
			t.Fatalf("item %d: %+v", i, binding)
		}
	}
	if len(list.Items) != nodes {
		t.Fatalf("%d items", len(list.Items))
	}
	again := as[api.BindingList](t, s.admin(200, "POST", "/v1/bindings?reimage=true", bulk(specs[:100]...)))
	if again.Items[99].Generation != 2 {
		t.Errorf("%+v", again.Items[99])
	}
	bad := append([]api.BindingSpec{}, specs[:60]...)
	bad[3].Image, bad[50].Node, bad[51].Node, bad[52].Disk = "none", "nobody", "n0", "sda"
	before := dump(t, shared)
	s.admin(422, "POST", "/v1/bindings?reimage=true", bulk(bad[:50]...))
	a := s.admin(422, "POST", "/v1/bindings?reimage=true", bulk(bad...)).Body
	for _, location := range []string{"body.items[50].node", "body.items[51].node"} {
		if !strings.Contains(a, location) {
			t.Errorf("%s is not named: %s", location, a)
		}
	}
	bad[50].Node, bad[51].Node = "n50", "n51"
	a = s.admin(422, "POST", "/v1/bindings?reimage=true", bulk(bad...)).Body
	for _, location := range []string{"body.items[3].image", "body.items[52].disk"} {
		if !strings.Contains(a, location) {
			t.Errorf("%s is not named: %s", location, a)
		}
	}
	if dump(t, shared) != before {
		t.Error("a bulk bind with faults changed something")
	}
	pages(t, s, nodes)
}

// pages walks the list of nodes and wants each once.
func pages(t *testing.T, s *sledd, nodes int) {
	t.Helper()
	seen := map[string]bool{}
	after := ""
	for {
		list := as[api.NodeList](t, s.admin(200, "GET", "/v1/nodes?limit=700&after="+after, nil))
		for _, node := range list.Items {
			seen[node.MAC] = true
		}
		if after = list.Next; after == "" {
			break
		}
	}
	if len(seen) != nodes {
		t.Errorf("paging showed %d nodes, want %d", len(seen), nodes)
	}
}

func TestListsAreFiltered(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	for i := range 6 {
		spec := api.NodeSpec{MAC: address(i), Name: fmt.Sprintf("n%d", i), Disk: "only",
			Labels: map[string]string{"odd": fmt.Sprint(i % 2), "third": fmt.Sprint(i % 3)}}
		s.admin(200, "PUT", "/v1/nodes/"+spec.Name, spec)
	}
	s.Bind(api.BindingSpec{Node: "n4", Image: "d12"})
	s.Bind(api.BindingSpec{Node: "n5"})
	s.Machine(9)
	for query, want := range map[string]string{
		"": "0123459", "?label=odd=1": "135", "?label=odd=1&label=third=0": "3", "?image=d12": "4", "?phase=discovered": "9",
		"?phase=discovered&phase=failed": "9", "?q=00:09": "9",
		"?limit=1&label=third=2": "2",
	} {
		got := ""
		list := as[api.NodeList](t, s.admin(200, "GET", "/v1/nodes"+query, nil))
		for _, node := range list.Items {
			got += node.MAC[len(node.MAC)-1:]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	if list := as[api.BindingList](t, s.admin(200, "GET", "/v1/bindings?image=d12", nil)); len(list.Items) != 1 ||
		list.Items[0].Node != "n4" {
		t.Errorf("%+v", list)
	}
}

func TestMetricsNameTheFleet(t *testing.T) {
	s := fresh(t)
	s.Machine(1).Poll(0)
	patience.Until(t, "the phase is counted", func() bool {
		return strings.Contains(s.admin(200, "GET", "/metrics", nil).Body, `sledd_nodes{phase="discovered"} 1`)
	})
	body := s.admin(200, "GET", "/metrics", nil).Body
	for _, want := range []string{"sledd_plans_handed_out_total 1",
		`sledd_http_request_seconds_count{code="200",method="GET",route="GET /boot/{file}"} 1`,
		`sledd_store_call_seconds_count{call="commit"}`, "sledd_waiting_polls 0"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestBootScriptOfAMalformedMAC(t *testing.T) {
	s := fresh(t)
	for _, path := range []string{"/boot/n1.ipxe", "/boot/52-54-00-77-00-01", "/boot/%24%7Bnet0%7D%20%7C%7C.ipxe"} {
		a := s.Ask("GET", path, "", "")
		if a.Status != 400 || !strings.HasPrefix(a.Body, "#!ipxe\n") || strings.Contains(a.Body, "${") ||
			strings.Contains(a.Body, "||") {
			t.Errorf("%s: %d: %s", path, a.Status, a.Body)
		}
	}
}
