// SPDX-License-Identifier: Apache-2.0
#include "node/os.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/operand.h"
#include "disk/sysfs.h"
#include "node/efi.h"
#include "node/facts.h"

void os_release_value(const char *file, const char *key, char *ret, size_t size) {
	size_t n = strlen(key), at = 0;

	*ret = 0;
	for (const char *line = file; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char quote;
		if (strncmp(line, key, n) || line[n] != '=')
			continue;
		line += n + 1;
		quote = *line == '"' || *line == '\'' ? *line++ : '\n';
		for (; *line && *line != '\n' && *line != quote && at + 1 < size; line++) {
			if (*line == '\\' && quote != '\'' && line[1] && line[1] != '\n')
				line++;
			ret[at++] = *line;
		}
		ret[at] = 0;
		return;
	}
}

static int read_release(const char *root, char **ret) {
	static const char *const paths[] = {"etc/os-release", "usr/lib/os-release"};
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTS(paths) && r < 0; i++) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/%s", root, paths[i]);
		r = file_read(path, 65536, ret, NULL);
	}
	return r;
}

bool os_was_jumped_to(const char *arguments) {
	const char *word = "sled.start=kexec";
	const size_t n = strlen(word);

	for (const char *at = arguments; (at = strstr(at, word)); at += n)
		if ((at == arguments || at[-1] == ' ') && strchr(" \n", at[n]))
			return true;
	return false;
}

int os_describe(const char *root, const char *generation, const char *lacks, struct text *text, struct fault *fault) {
	char id[64], version[64], kernel[128], machine[64], boot[64];
	cleanup_free char *release = NULL, *arguments = NULL;
	char path[PATH_MAX];
	int r = read_release(root, &release);

	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "/etc/os-release");
	os_release_value(release, "ID", id, sizeof(id));
	os_release_value(release, "VERSION_ID", version, sizeof(version));
	sysfs_clean(id); // sledd refuses control characters
	sysfs_clean(version);
	sysfs_text(kernel, sizeof(kernel), "%s/proc/sys/kernel/osrelease", root);
	sysfs_text(machine, sizeof(machine), "%s/etc/machine-id", root);
	facts_boot_id(root, boot, sizeof(boot));
	snprintf(path, sizeof(path), "%s/proc/cmdline", root);
	r = file_read(path, 65536, &arguments, NULL);
	if (r < 0)
		return fault_errno(fault, CODE_FAILED, r, "/proc/cmdline");
	text_addf(text, "operational 1\ngeneration %s\nos", generation);
	operand_write(text, "id", id);
	operand_write(text, "version", version);
	operand_write(text, "kernel", kernel);
	operand_write(text, "machine_id", machine);
	operand_write(text, "boot_id", boot);
	efi_describe(root, text);
	text_addf(text, " uptime=%.2f start=%s", facts_uptime(root),
		  os_was_jumped_to(arguments) ? "kexec" : "firmware");
	if (*lacks)
		operand_write(text, "lacks", lacks);
	text_adds(text, "\n");
	return text->failed ? fault_errno(fault, CODE_FAILED, ENOMEM, "operational") : 0;
}
