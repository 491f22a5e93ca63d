// SPDX-License-Identifier: Apache-2.0
// sledc: one verb for each thing that a node does. A line of a plan (contract/plan.md) is a command line of it.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "verbs/help.h"
#include "verbs/verbs.h"

static const struct verb verbs[] = {
	{"hello", "claim to be a node, and print the claim code", hello_rules, verb_hello, NULL, NULL},
	{"plan", "request a plan from sledd and store it", plan_rules, verb_plan, NULL, NULL},
	{"check-plan", "check a whole plan", NULL, NULL, verb_check_plan, "FILE|-"},
	{"operand", "print the decoded value of one operand of a plan line", NULL, NULL, verb_operand,
	 "KEY VERB key=value..."},
	{"facts", "print the facts of this machine, or send them to sledd", facts_rules, verb_facts, NULL, NULL},
	{"disks", "list the disks, or find the one that a selector matches", disks_rules, verb_disks, NULL, NULL},
	{"filesystem", "print which filesystem a partition holds", filesystem_rules, verb_filesystem, NULL, NULL},
	{"content", "print what a partition holds", content_rules, verb_content, NULL, NULL},
	{"layout", "make the partition of a data disk on a blank disk", layout_rules, verb_layout, NULL, NULL},
	{"wipe", "empty a disk", wipe_rules, verb_wipe, NULL, NULL},
	{"write", "write an image to a disk", write_shell_rules, verb_write, NULL, NULL},
	{"capture", "make an image of a disk and upload it", capture_rules, verb_capture, NULL, NULL},
	{"pack", "make an image of a disk or of a file with its content", pack_rules, verb_pack, NULL, NULL},
	{"ndz", "unpack a file of imagezip to an empty file; pack runs it, confined", NULL, NULL, verb_ndz, "IN OUT"},
	{"inspect", "show the properties of an image", inspect_rules, verb_inspect, NULL, NULL},
	{"verify", "check every byte of an image, or a disk against an image", verify_rules, verb_verify, NULL, NULL},
	{"diff", "compare two images", diff_rules, verb_diff, NULL, NULL},
	{"sign", "sign an image", sign_rules, verb_sign, NULL, NULL},
	{"mcast-test", "find out whether multicast from a sender arrives, and what is likely wrong", mcast_test_rules,
	 verb_mcast_test, NULL, NULL},
	{"send", "send the images of a folder to many nodes at once", send_rules, verb_send, NULL, NULL},
	{"grow", "extend the partition table and the last partition to the end of the disk", grow_rules, verb_grow,
	 NULL, NULL},
	{"stamp", "record on a disk which plan wrote it", stamp_rules, verb_stamp, NULL, NULL},
	{"hostkey", "make an SSH host key, and print its public half", hostkey_rules, verb_hostkey, NULL, NULL},
	{"tree", "read and change files of an installed system, without leaving its tree", NULL, NULL, verb_tree,
	 TREE_WORDS},
	{"bootentry", "find kernel, initrd and arguments of an installed system", bootentry_rules, verb_bootentry, NULL,
	 NULL},
	{"load", "load a kernel that replaces the running system (kexec)", load_rules, verb_load, NULL, NULL},
	{"unload", "unload the loaded kernel", unload_rules, verb_unload, NULL, NULL},
	{"jump", "make the filesystems read-only and start the loaded kernel", jump_rules, verb_jump, NULL, NULL},
	{"report", "report a step to sledd, from lines on standard input", report_rules, verb_report, NULL, NULL},
	{"seed", "fetch the files for the installed system", seed_rules, verb_seed, NULL, NULL},
	{"job", "fetch the configuration of a job", job_rules, verb_job, NULL, NULL},
	{"signal", "wait until a job is cancelled", signal_rules, verb_signal, NULL, NULL},
	{"attach", "make a block device of a root on an NFS export, of which each block is checked", attach_rules,
	 verb_attach, NULL, NULL},
	{"attached", "print whether all blocks of that device were valid so far", attached_rules, verb_attached, NULL,
	 NULL},
	{"detach", "remove that device", detach_rules, verb_detach, NULL, NULL},
	{"output", "upload standard input in segments while it comes", output_rules, verb_output, NULL, NULL},
	{"ticket", "fetch the ticket for the next boot of this node", ticket_rules, verb_ticket, NULL, NULL},
	{"download", "fetch a file of the boot server", download_rules, verb_download, NULL, NULL},
	{"lastwords", "send sledd the last messages of a kernel that crashed", lastwords_rules, verb_lastwords, NULL,
	 NULL},
	{"watchdog", "find, try, arm or stop a hardware watchdog", watchdog_rules, verb_watchdog, NULL, NULL},
	{"operational", "report to sledd that the installed system runs", operational_rules, verb_operational, NULL,
	 NULL},
};

static int read_operands(const struct verb *verb, int count, char **words, struct operands *ret, struct fault *fault) {
	for (int i = 0; i < count; i++) {
		int r = operands_add(ret, words[i], strlen(words[i]), fault);
		if (r < 0)
			return r;
	}
	return operands_check(ret, verb->rules, fault);
}

static enum exit_code run(const struct verb *verb, int count, char **words) {
	cleanup_with(operands_free) struct operands operands = {0};
	struct fault fault;

	if (count > 0 && !strcmp(words[0], "--help")) {
		help_verb(stdout, verb);
		return CODE_DONE;
	}
	if (verb->run_words)
		return verb->run_words(count, words);
	if (read_operands(verb, count, words, &operands, &fault) < 0)
		return fault_print(&fault, verb->name);
	return verb->run(&operands);
}

int main(int argc, char **argv) {
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
		help_verbs(stdout, verbs, ELEMENTS(verbs));
		return CODE_DONE;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("sledc " SLED_VERSION);
		return CODE_DONE;
	}
	for (size_t i = 0; argc > 1 && i < ELEMENTS(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run(&verbs[i], argc - 2, argv + 2);
	if (argc > 1)
		fprintf(stderr, "sledc: unknown verb %s\n", argv[1]);
	help_verbs(stderr, verbs, ELEMENTS(verbs));
	return CODE_USAGE;
}
