// SPDX-License-Identifier: Apache-2.0

package show

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestStageBarsStayInside(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	line := api.Timeline{Begin: noon, Total: 50, Stages: []api.Stage{{Name: "write", Begin: noon, Seconds: 21}}}
	line.Stages = append(line.Stages, api.Stage{Name: "late", Begin: noon.Add(time.Hour), Seconds: 99},
		api.Stage{Begin: noon.Add(-time.Hour), Seconds: 1e9})
	for _, stage := range line.Stages {
		before, length := stageBar(line, stage, 50)
		if before < 0 || length < 1 || before+length > 50 {
			t.Errorf("%s: %d cells after %d", stage.Name, length, before)
		}
	}
	if before, length := stageBar(api.Timeline{}, line.Stages[0], 50); before != 0 || length != 0 {
		t.Errorf("a run of no time: %d, %d", before, length)
	}
}
