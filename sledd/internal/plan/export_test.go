// SPDX-License-Identifier: Apache-2.0

package plan

// Verbs is the table of verbs.
var Verbs = verbs
