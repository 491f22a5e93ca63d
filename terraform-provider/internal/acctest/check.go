// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
)

// NoSecret checks, within resource.Test, that neither the plan nor the state as JSON holds any of these texts.
type NoSecret []string

var (
	_ plancheck.PlanCheck   = NoSecret{}
	_ statecheck.StateCheck = NoSecret{}
)

// CheckPlan checks a plan.
func (n NoSecret) CheckPlan(_ context.Context, request plancheck.CheckPlanRequest,
	response *plancheck.CheckPlanResponse) {
	response.Error = n.in("plan", request.Plan)
}

// CheckState checks the state.
func (n NoSecret) CheckState(_ context.Context, request statecheck.CheckStateRequest,
	response *statecheck.CheckStateResponse) {
	response.Error = n.in("state", request.State)
}

func (n NoSecret) in(place string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	for _, secret := range n {
		if strings.Contains(string(text), secret) {
			return fmt.Errorf("the %s holds the secret %q", place, secret)
		}
	}
	return nil
}
