// SPDX-License-Identifier: Apache-2.0
// The verbs of sledc. Only they and the multicast sender print, and only their return value ends the process
// (contract/exit-codes.md).
#pragma once

#include "base/operand.h"
#include "base/progress.h"
#include "plan/plan.h"
#include "plan/values.h"

struct verb {
	const char *name, *help;
	const struct operand_rule *rules; // of `run`
	enum exit_code (*run)(const struct operands *operands);
	enum exit_code (*run_words)(int count, char **words); // instead of `run`: gets its words unparsed
	const char *words;				      // of run_words, for help
};

extern const struct operand_rule plan_rules[], facts_rules[], disks_rules[], grow_rules[], bootentry_rules[],
	report_rules[], content_rules[], seed_rules[], operational_rules[], lastwords_rules[], watchdog_rules[],
	inspect_rules[], verify_rules[], diff_rules[], sign_rules[], pack_rules[], load_rules[], unload_rules[],
	jump_rules[], hello_rules[], hostkey_rules[], send_rules[], mcast_test_rules[], filesystem_rules[],
	stamp_rules[], job_rules[], signal_rules[], output_rules[], ticket_rules[], download_rules[], detach_rules[],
	attached_rules[];

enum exit_code verb_check_plan(int count, char **words);
enum exit_code verb_operand(int count, char **words);
enum exit_code verb_ndz(int count, char **words);
#define TREE_WORDS                                                                                          \
	"get|names|files|remove ROOT PATH...|put ROOT PATH MODE [UID:GID]|folder ROOT PATH MODE [UID:GID]|" \
	"link ROOT PATH TARGET|attach ROOT MOUNTED PATH|bind ROOT FOLDER PATH"
enum exit_code verb_tree(int count, char **words);
enum exit_code verb_hostkey(const struct operands *operands);
enum exit_code verb_hello(const struct operands *operands);
enum exit_code verb_plan(const struct operands *operands);
enum exit_code verb_facts(const struct operands *operands);
enum exit_code verb_content(const struct operands *operands);
enum exit_code verb_disks(const struct operands *operands);
enum exit_code verb_filesystem(const struct operands *operands);
enum exit_code verb_layout(const struct operands *operands);
enum exit_code verb_wipe(const struct operands *operands);
enum exit_code verb_write(const struct operands *operands);
enum exit_code verb_inspect(const struct operands *operands);
enum exit_code verb_verify(const struct operands *operands);
enum exit_code verb_diff(const struct operands *operands);
enum exit_code verb_sign(const struct operands *operands);
enum exit_code verb_send(const struct operands *operands);
enum exit_code verb_mcast_test(const struct operands *operands);
enum exit_code verb_capture(const struct operands *operands);
enum exit_code verb_pack(const struct operands *operands);
enum exit_code verb_grow(const struct operands *operands);
enum exit_code verb_stamp(const struct operands *operands);
enum exit_code verb_bootentry(const struct operands *operands);
enum exit_code verb_load(const struct operands *operands);
enum exit_code verb_unload(const struct operands *operands);
enum exit_code verb_jump(const struct operands *operands);
enum exit_code verb_report(const struct operands *operands);
enum exit_code verb_seed(const struct operands *operands);
enum exit_code verb_job(const struct operands *operands);
enum exit_code verb_signal(const struct operands *operands);
enum exit_code verb_attach(const struct operands *operands);
enum exit_code verb_attached(const struct operands *operands);
enum exit_code verb_detach(const struct operands *operands);
enum exit_code verb_output(const struct operands *operands);
enum exit_code verb_ticket(const struct operands *operands);
enum exit_code verb_download(const struct operands *operands);
enum exit_code verb_operational(const struct operands *operands);
enum exit_code verb_lastwords(const struct operands *operands);
enum exit_code verb_watchdog(const struct operands *operands);

// Shows progress on standard output: a bar on a terminal, else lines "progress bytes=N total=N rate=N".
void console_progress(const struct progress *progress);
