// SPDX-License-Identifier: Apache-2.0
// A whole plan (contract/plan.md): checked before its first step runs. Pure functions over a buffer.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/operand.h"

#define PLAN_LINES_MAX 64u
#define PLAN_BYTES_MAX (PLAN_LINES_MAX * LINE_MAX_BYTES)

// BEGIN words: step-rules
extern const struct operand_rule wipe_rules[];
extern const struct operand_rule write_rules[];
extern const struct operand_rule capture_rules[];
extern const struct operand_rule configure_rules[];
extern const struct operand_rule kexec_rules[];
extern const struct operand_rule reboot_rules[];
extern const struct operand_rule poweroff_rules[];
extern const struct operand_rule idle_rules[];
extern const struct operand_rule rescue_rules[];
// END words
// of the verb at a shell: a file may stand for the disk, which no plan can say
extern const struct operand_rule write_shell_rules[];

// Every line is right and so is their order. The fault names the line.
int plan_check(const char *data, size_t size, uint64_t *ret_generation, struct fault *fault);

// Only the second line: what init needs to know even of a plan that will be refused.
int plan_generation(const char *data, size_t size, uint64_t *ret_generation, struct fault *fault);
