// SPDX-License-Identifier: Apache-2.0
#include "base/jail_cell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

// Of kernels that are newer than the headers of Debian 12.
#define FS_REFER (UINT64_C(1) << 13)	 // 2
#define FS_TRUNCATE (UINT64_C(1) << 14)	 // 3
#define FS_IOCTL_DEV (UINT64_C(1) << 15) // 5
#define NET_ALL UINT64_C(3)		 // 4: bind and connect
#define SCOPE_ALL UINT64_C(3)		 // 6: abstract sockets, signals

struct attributes { // struct landlock_ruleset_attr of version 6
	uint64_t fs, net, scoped;
};

static int version(void) {
	return (int)syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static bool is_taken_away(const char *what) {
#ifdef SLED_TEST
	const char *kept = getenv("SLED_TEST_JAIL");
	return kept && !strstr(kept, what);
#else
	(void)what;
	return false;
#endif
}

bool cell_has_landlock(void) { return version() > 0 && !is_taken_away("landlock"); }
bool cell_has_namespaces(void) { return !is_taken_away("namespaces"); }

static uint64_t handled(int abi) {
	return (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 + (abi >= 2 ? FS_REFER : 0) + (abi >= 3 ? FS_TRUNCATE : 0) +
	       (abi >= 5 ? FS_IOCTL_DEV : 0);
}

static uint64_t rights_of(const struct place *place) {
	uint64_t rights = LANDLOCK_ACCESS_FS_READ_FILE;

	if (place->is_folder)
		rights |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (place->may_execute)
		rights |= LANDLOCK_ACCESS_FS_EXECUTE;
	if (place->may_write)
		rights |= LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE;
	return place->is_folder ? rights : rights | FS_IOCTL_DEV; // the size of a block device
}

// EBADFD: a file of memory, which Landlock leaves alone.
static int allow(const struct cell *cell, const struct place *place, uint64_t all) {
	const struct landlock_path_beneath_attr rule = {.allowed_access = rights_of(place) & all,
							.parent_fd = place->fd};

	if (syscall(__NR_landlock_add_rule, cell->ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 && errno != EBADFD)
		return -errno;
	return 0;
}

static int make_ruleset(struct cell *cell, struct fault *fault) {
	int abi = version(), r = 0;
	const struct attributes attributes = {handled(abi), abi >= 4 ? NET_ALL : 0, abi >= 6 ? SCOPE_ALL : 0};
	size_t size = abi >= 6 ? sizeof(attributes) : abi >= 4 ? 16 : 8;

	cell->ruleset = (int)syscall(__NR_landlock_create_ruleset, &attributes, size, 0);
	if (cell->ruleset < 0)
		return fault_errno(fault, CODE_FAILED, errno, "Landlock");
	for (size_t i = 0; r == 0 && i < cell->count; i++)
		if ((r = allow(cell, &cell->places[i], attributes.fs)) < 0)
			return fault_errno(fault, CODE_FAILED, r, "Landlock: %s", cell->places[i].target);
	return 0;
}

int cell_enter_ruleset(const struct cell *cell) {
	return syscall(__NR_landlock_restrict_self, cell->ruleset, 0) < 0 ? -errno : 0;
}

// A folder or file of this machine that does not exist is left out.
static void add(struct cell *cell, const char *path, struct place place) {
	struct stat st;

	place.fd = open(path, O_PATH | O_CLOEXEC);
	if (place.fd < 0)
		return;
	place.is_folder = fstat(place.fd, &st) == 0 && S_ISDIR(st.st_mode);
	if (!place.target[0])
		snprintf(place.target, sizeof(place.target), "%s", path);
	cell->places[cell->count++] = place;
}

static int add_file(struct cell *cell, const struct jail_file *file, size_t i, struct fault *fault) {
	struct place place = {.may_write = file->writable};
	size_t before = cell->count;
	char path[48];

	snprintf(place.target, sizeof(place.target), "/proc/self/fd/%zu", JAIL_FIRST + i);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	add(cell, path, place);
	return cell->count > before ? 0 : fault_errno(fault, CODE_FAILED, errno, "%s", path);
}

int cell_open(const struct jail_file given[], size_t given_count, const char *program, struct cell *ret,
	      struct fault *fault) {
	static const char *const libraries[] = {"/lib",	      "/lib32",	    "/lib64",	     "/usr/lib",
						"/usr/lib32", "/usr/lib64", "/usr/local/lib"};
	static const char *const files[] = {"/etc/ld.so.cache", "/etc/ld.so.preload"};
	int r = 0;

	*ret = (struct cell){.ruleset = -1};
	snprintf(ret->user_map, sizeof(ret->user_map), "%u %u 1", geteuid(), geteuid());
	snprintf(ret->group_map, sizeof(ret->group_map), "%u %u 1", getegid(), getegid());
	for (size_t i = 0; i < ELEMENTS(libraries); i++)
		add(ret, libraries[i], (struct place){.may_execute = true});
	for (size_t i = 0; i < ELEMENTS(files); i++)
		add(ret, files[i], (struct place){0});
	add(ret, "/dev/null", (struct place){.may_write = true});
	add(ret, program, (struct place){.may_execute = true});
	for (size_t i = 0; r == 0 && i < given_count; i++)
		r = add_file(ret, &given[i], i, fault);
	return r == 0 && cell_has_landlock() ? make_ruleset(ret, fault) : r;
}

void cell_close(struct cell *cell) {
	for (size_t i = 0; i < cell->count; i++)
		close(cell->places[i].fd);
	if (cell->ruleset >= 0)
		close(cell->ruleset);
	*cell = (struct cell){.ruleset = -1};
}
