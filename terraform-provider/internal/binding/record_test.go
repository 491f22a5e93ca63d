// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

func sample() record {
	return record{Desired: desired.State{BindingSpec: api.BindingSpec{Image: "v1", Owner: "terraform"}},
		Generation: 3, Status: 2, Revision: 10, Owner: "terraform", Name: "n1", Disk: "serial:S1"}
}

func TestRecordReturns(t *testing.T) {
	other, nobody, imported := sample(), sample(), sample()
	other.Owner, nobody.Owner, imported.Desired.Owner = "terraform:r", "", ""
	absent := sample()
	absent.Absent, absent.Revision, absent.Status = true, 0, 0
	for _, r := range []record{sample(), other, nobody, imported, absent} {
		text, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var read record
		if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, r) {
			t.Errorf("%v: %s became %+v", err, text, read)
		}
	}
}

// The state of 500 bindings is written 500 times in an apply.
func TestRecordIsShort(t *testing.T) {
	r := sample()
	r.Desired.Node, r.Desired.Digest = "52:54:00:00:00:01", "sha256:0123"
	const want = `{"generation":3,"status_generation":2,"revision":10,"name":"n1","disk":"serial:S1",` +
		`"desired":{"image":"v1","owner":"terraform"}}`
	if text, err := json.Marshal(&r); err != nil || string(text) != want {
		t.Errorf("%v: got  %s\nwant %s", err, text, want)
	}
}
