// SPDX-License-Identifier: Apache-2.0
// Numbers for people, and strings for programs that read JSON.
#pragma once

#include <stdint.h>
#include <stdio.h>

// "1.5 GiB"; returns `ret`.
const char *human_bytes(uint64_t bytes, char ret[32]);

// Writes the string in quotes, escaped (RFC 8259).
void json_string(FILE *out, const char *string);
