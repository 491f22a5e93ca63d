// SPDX-License-Identifier: Apache-2.0
// NFS exports, HOST:/PATH.
#pragma once

#include <stdint.h>

#include "base/fault.h"

#define EXPORT_HOST 254u
#define EXPORT_MAX 1024u

// Checks an export, and copies its host, without brackets. Pure.
int export_parse(const char *text, char ret_host[EXPORT_HOST], struct fault *fault);

// Mounts it read-only at a folder, and tries until `deadline` (base/clock.h). A read waits for a server that is away.
int export_mount(const char *text, const char *folder, int64_t deadline, struct fault *fault);

// Unmounts it; a server that is away is not waited for. Nothing if it is not mounted.
int export_unmount(const char *folder, struct fault *fault);

// Ends the requests that wait for the server, each with an I/O error.
void export_interrupt(const char *folder);
