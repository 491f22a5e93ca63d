// SPDX-License-Identifier: Apache-2.0
#include "boot/bootable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void bootable_free(struct bootable *bootable) {
	free(bootable->entry);
	free(bootable->kernel);
	free(bootable->device);
	text_free(&bootable->initrds);
	text_free(&bootable->arguments);
	*bootable = (struct bootable){0};
}

static bool locate(const struct border *const *folders, size_t count, const char *path, char ret[PATH_MAX]) {
	for (size_t i = 0; i < count; i++)
		if (border_locate(folders[i], path, ret))
			return true;
	return false;
}

static int missing(const char *path, const char *loader, struct fault *fault) {
	return fault_set(fault, CODE_UNSUPPORTED, "%s starts %s, which does not exist", loader, path);
}

int bootable_take(const struct entry *entry, const char *loader, const struct border *const *folders, size_t count,
		  struct bootable *ret, struct fault *fault) {
	cleanup_with(bootable_free) struct bootable found = {.loader = loader};
	char path[PATH_MAX];

	if (!locate(folders, count, entry->kernel, path))
		return missing(entry->kernel, loader, fault);
	found.kernel = strdup(path);
	found.entry = strdup(entry->id ? entry->id : "");
	found.device = strdup(entry->device && !strncmp(entry->device, "UUID=", 5) ? entry->device : "");
	for (size_t i = 0; i < entry->initrd_count; i++) {
		if (!locate(folders, count, entry->initrds[i], path))
			return missing(entry->initrds[i], loader, fault);
		text_addf(&found.initrds, "%s%s", i ? "," : "", path);
	}
	text_add(&found.arguments, entry->arguments.data, entry->arguments.size);
	if (!found.kernel || !found.entry || !found.device || found.initrds.failed || found.arguments.failed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", entry->kernel);
	if (found.arguments.size > ARGUMENTS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "the kernel arguments are longer than %u bytes",
				 ARGUMENTS_MAX);
	*ret = found;
	found = (struct bootable){0};
	return 0;
}
