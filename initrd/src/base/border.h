// SPDX-License-Identifier: Apache-2.0
// Files below a folder, and none outside of it: the tree of an installed system, whose links are not to be trusted.
// The folder is the root of every path: absolute links and ".." stay below it. What is mounted below it belongs to the
// tree, because only border_attach and border_bind mount there. A tmpfs stands for what the installed system mounts and
// this one cannot: nothing is in it, and nothing is written to it. Only regular files are read, and what is written
// replaces a name and follows no link at its end.
//
// Errors: code 3 if the tree does not allow it (no regular file, a loop of links, an immutable file, too large); code 1
// if the filesystem is full, read-only or broken.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/fault.h"

#define BORDER_READ_MAX (16u << 20)  // bytes of a file that is read
#define BORDER_WRITE_MAX (64u << 20) // bytes of a file that is written
#define BORDER_NAMES_MAX 4096u	     // names of one folder that match a pattern

struct border {
	int fd;		    // the folder; -1: none
	const char *prefix; // stands before each path: "", or "/boot"
};

struct border_mode {
	mode_t mode;
	uid_t uid; // (uid_t)-1 and (gid_t)-1: this process
	gid_t gid;
};

enum border_kind {
	BORDER_NAMES, // whatever it is; a link is not followed
	BORDER_FILES, // what leads to a regular file
};

int border_open(const char *folder, struct border *ret, struct fault *fault);
void border_close(struct border *border); // for cleanup_with

// Opens a regular file for reading. -ENOENT if the path leads to nothing.
int border_file(const struct border *border, const char *path, struct fault *fault);

// Reads all of it, as file_read.
int border_read(const struct border *border, const char *path, size_t max, char **ret_data, size_t *ret_size,
		struct fault *fault);

// As border_read. What is missing, or what the tree does not allow, is no error: *ret_data is NULL.
int border_read_any(const struct border *border, const char *path, size_t max, char **ret_data, struct fault *fault);

// The path without links of a regular file that is not empty, as programs without a border open it. False: none.
bool border_locate(const struct border *border, const char *path, char ret[PATH_MAX]);

// Writes a whole file, atomically; makes the folders above it. On a failure the old file is unchanged.
int border_write(const struct border *border, const char *path, const struct border_mode *mode, const void *data,
		 size_t size, struct fault *fault);

// The same for a symbolic link, whose target is not checked.
int border_link(const struct border *border, const char *path, const char *target, struct fault *fault);

// Makes the folder and those above it, unless they exist, and sets its mode and owner.
int border_folder(const struct border *border, const char *path, const struct border_mode *mode, struct fault *fault);

// Removes a name that is no folder. No error if it does not exist.
int border_remove(const struct border *border, const char *path, struct fault *fault);

// Moves the mount at `folder`, which is outside of the tree, to a folder of the tree. *ret: where it is, without links.
int border_attach(const struct border *border, const char *folder, const char *path, char ret[PATH_MAX],
		  struct fault *fault);

// The same of a second mount of a folder of the tree.
int border_bind(const struct border *border, const char *source, const char *path, char ret[PATH_MAX],
		struct fault *fault);

// Visits what matches the pattern, a path whose components may have wildcards (glob(7)), sorted; names with control
// characters are left out. Ends at the first visit that does not return 0, and returns that.
typedef int border_visit(const char *path, void *context);
int border_match(const struct border *border, const char *pattern, enum border_kind kind, border_visit *visit,
		 void *context, struct fault *fault);
