// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// checkLabels refuses labels that no selection could name.
func checkLabels(labels map[string]string) error {
	if name, err := api.CheckLabels(labels); err != nil {
		return refusal.Value("body.labels."+name, labels[name], err)
	}
	return nil
}

// checkKeys returns SSH public keys as they are stored, without the white space of the files that they come from. A
// refusal does not quote what may be a private key.
func checkKeys(given []string) ([]string, error) {
	var keys []string
	for i, key := range given {
		if err := api.CheckKey(key); err != nil {
			return nil, refusal.Value(fmt.Sprintf("body.authorized_keys[%d]", i), nil,
				fmt.Errorf("authorized key %d %w", i+1, err))
		}
		keys = append(keys, strings.TrimSpace(key))
	}
	return keys, nil
}
