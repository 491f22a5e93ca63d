// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

func TestErasureProof(t *testing.T) {
	purged := api.Erasure{Level: "purge", Method: "nvme-sanitize-crypto", Bytes: 1 << 40, Samples: 1024, Compared: 9216,
		Reported: nodetexttest.Identifier("log")}
	if got := fmt.Sprint(ErasureCourse(purged)); !strings.Contains(got, "9216 blocks of 4,096 bytes") {
		t.Errorf("it does not state what was compared: %s", got)
	}
	none := purged
	none.Compared = 3 // a disk that was empty before
	few := none
	few.Samples = 0
	for want, r := range map[string]api.Erasure{"with 95 %": purged, "only 3 held": none, "one byte repeated": few} {
		if got := ErasureProof(r); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
