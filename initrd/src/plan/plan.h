// SPDX-License-Identifier: Apache-2.0
// A whole plan (contract/plan.md): checked before its first step runs. Pure functions over a buffer.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/operand.h"

#define PLAN_LINES_MAX 64u
#define PLAN_BYTES_MAX (PLAN_LINES_MAX * LINE_MAX_BYTES)

// BEGIN words: step-rules
extern const struct operand_rule layout_rules[];
extern const struct operand_rule wipe_rules[];
extern const struct operand_rule write_rules[];
extern const struct operand_rule fetch_rules[];
extern const struct operand_rule capture_rules[];
extern const struct operand_rule configure_rules[];
extern const struct operand_rule kexec_rules[];
extern const struct operand_rule reboot_rules[];
extern const struct operand_rule poweroff_rules[];
extern const struct operand_rule idle_rules[];
extern const struct operand_rule rescue_rules[];
extern const struct operand_rule run_rules[];
extern const struct operand_rule start_rules[];
// END words
// of the verb at a shell, where a file may replace the disk; a plan cannot do that
extern const struct operand_rule write_shell_rules[];
extern const struct operand_rule attach_rules[]; // of the verb that a step fetch runs

// Checks every line and their order. The fault names the line.
int plan_check(const char *data, size_t size, struct fault *fault);

// The second line.
struct plan_numbers {
	uint64_t generation, run;
};

// Reads only the second line: init needs it even of a plan that is refused.
int plan_numbers(const char *data, size_t size, struct plan_numbers *ret, struct fault *fault);
