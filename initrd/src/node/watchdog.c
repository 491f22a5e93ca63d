// SPDX-License-Identifier: Apache-2.0
#include "node/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/watchdog.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/sysfs.h"

// Some drivers do not link to their device: then the name of the watchdog is compared, such as "i6300ESB timer" or
// "SP5100 TCO timer".
static bool drives(const char *root, const char *name, const char *driver) {
	char module[64], identity[64];

	sysfs_link(module, sizeof(module), "%s/sys/class/watchdog/%s/device/driver/module", root, name);
	sysfs_text(identity, sizeof(identity), "%s/sys/class/watchdog/%s/identity", root, name);
	return !strcmp(module, driver) || !strncasecmp(identity, driver, strlen("sp5100"));
}

int watchdog_find(const char *root, const char *driver, char *ret, size_t size, struct fault *fault) {
	char path[PATH_MAX];
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/class/watchdog", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!drives(root, entry->d_name, driver))
			continue;
		snprintf(ret, size, "%s/dev/%s", root, entry->d_name);
		return 0;
	}
	// The one driver without a device of that class.
	snprintf(path, sizeof(path), "%s/sys/class/misc/watchdog", root);
	snprintf(ret, size, "%s/dev/watchdog", root);
	if (!strcmp(driver, "ipmi_watchdog") && access(path, F_OK) == 0 && access(ret, F_OK) == 0)
		return 0;
	return fault_set(fault, CODE_UNSUPPORTED, "driver %s has no watchdog", driver);
}

int watchdog_arm(const char *device, int seconds, int *ret_seconds, struct fault *fault) {
	cleanup_close int fd = open(device, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", device);
	*ret_seconds = seconds;
	if (ioctl(fd, WDIOC_SETTIMEOUT, ret_seconds) < 0 || ioctl(fd, WDIOC_GETTIMEOUT, ret_seconds) < 0 ||
	    ioctl(fd, WDIOC_KEEPALIVE, NULL) < 0) {
		int error = errno;
		if (write(fd, "V", 1) < 0) // opening it has started it
			return fault_errno(fault, CODE_FAILED, errno, "%s: it is armed, but its timeout cannot be set",
					   device);
		return fault_errno(fault, CODE_UNSUPPORTED, error, "%s: %d s", device, seconds);
	}
	return 0;
}

int watchdog_stop(const char *root, const char *device, struct fault *fault) {
	cleanup_close int fd = -1;
	char nowayout[8];

	sysfs_text(nowayout, sizeof(nowayout), "%s/sys/class/watchdog/%s/nowayout", root, strrchr(device, '/') + 1);
	if (!strcmp(nowayout, "1"))
		return fault_set(
			fault, CODE_UNSUPPORTED,
			"%s cannot be stopped (nowayout): the kernel resets its timer until a process opens it",
			device);
	fd = open(device, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return 1;
	if (fd < 0 || write(fd, "V", 1) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", device);
	return 0;
}
