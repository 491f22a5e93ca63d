// SPDX-License-Identifier: Apache-2.0
// What `--help` prints, in lines of at most 80 columns.
#pragma once

#include <stdio.h>

#include "verbs/verbs.h"

void help_verbs(FILE *out, const struct verb *verbs, size_t count);
void help_verb(FILE *out, const struct verb *verb);
