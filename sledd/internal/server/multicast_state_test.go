// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestNoSenderIsNoFault(t *testing.T) {
	s := fresh(t)
	told := as[api.Multicast](s.T, s.admin(200, "GET", "/v1/multicast", nil))
	if told.Running || told.Sessions == nil || len(told.Sessions) != 0 {
		t.Errorf("%+v", told)
	}
}
