// SPDX-License-Identifier: Apache-2.0
#include "node/mapper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/loop.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

#define CONTROL "/dev/mapper/control"
#define LOOP_TRIES 16

struct request {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char table[1024];
};

static struct request request_of(const char *name, uint32_t flags) {
	struct request request = {
		.head = {.version = {4, 0, 0},
			 .data_size = sizeof(request),
			 .data_start = offsetof(struct request, target),
			 .flags = flags},
	};

	snprintf(request.head.name, sizeof(request.head.name), "%s", name);
	return request;
}

// Returns an error of code 3 if the kernel has no device-mapper.
static int control_open(int *ret, struct fault *fault) {
	*ret = open(CONTROL, O_RDWR | O_CLOEXEC);
	return *ret < 0 ? fault_errno(fault, CODE_UNSUPPORTED, errno, CONTROL) : 0;
}

int mapper_loop(int file, char ret_path[DEVICE_PATH], int *ret_fd, struct fault *fault) {
	struct loop_config config = {.fd = (uint32_t)file,
				     .info = {.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR}};
	cleanup_close int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (control < 0)
		return fault_errno(fault, CODE_UNSUPPORTED, errno, "/dev/loop-control");
	for (int i = 0; i < LOOP_TRIES; i++) { // another process may take the free one
		cleanup_close int loop = -1;
		int number = ioctl(control, LOOP_CTL_GET_FREE);
		if (number < 0)
			break;
		snprintf(ret_path, DEVICE_PATH, "/dev/loop%d", number);
		loop = open(ret_path, O_RDONLY | O_CLOEXEC);
		if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) == 0) {
			*ret_fd = steal_fd(&loop);
			return 0;
		}
		if (errno != EBUSY && errno != ENXIO)
			break;
	}
	return fault_errno(fault, CODE_FAILED, errno, "loop device");
}

static int load(int control, const char *name, const char *target, const char *table, uint64_t sectors) {
	struct request request = request_of(name, DM_READONLY_FLAG);

	request.head.target_count = 1;
	request.target.length = sectors;
	snprintf(request.target.target_type, sizeof(request.target.target_type), "%s", target);
	snprintf(request.table, sizeof(request.table), "%s", table);
	if (ioctl(control, DM_TABLE_LOAD, &request) < 0)
		return -errno;
	request = request_of(name, 0);
	return ioctl(control, DM_DEV_SUSPEND, &request) < 0 ? -errno : 0; // without its flag: resume
}

int mapper_create(const char *name, const char *target, const char *table, uint64_t sectors, char ret_path[DEVICE_PATH],
		  struct fault *fault) {
	struct request request = request_of(name, 0);
	cleanup_close int control = -1;
	int r = control_open(&control, fault);

	if (r < 0)
		return r;
	if (ioctl(control, DM_DEV_CREATE, &request) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "device-mapper: %s", name);
	snprintf(ret_path, DEVICE_PATH, "/dev/dm-%u", minor(request.head.dev));
	r = load(control, name, target, table, sectors);
	if (r < 0) {
		struct fault ignored;
		(void)mapper_remove(name, &ignored);
		return fault_errno(fault, r == -EINVAL ? CODE_UNSUPPORTED : CODE_FAILED, r, "device-mapper: %s: %s",
				   name, target);
	}
	return 0;
}

int mapper_state(const char *name, char *ret, struct fault *fault) {
	struct request request = request_of(name, 0);
	cleanup_close int control = -1;
	int r = control_open(&control, fault);

	if (r == 0 && ioctl(control, DM_TABLE_STATUS, &request) < 0)
		r = fault_errno(fault, CODE_FAILED, errno, "device-mapper: %s", name);
	if (r == 0)
		*ret = request.table[0];
	return r;
}

int mapper_remove(const char *name, struct fault *fault) {
	struct request request = request_of(name, 0);
	cleanup_close int control = open(CONTROL, O_RDWR | O_CLOEXEC);

	if (control < 0)
		return 1;
	if (ioctl(control, DM_DEV_REMOVE, &request) == 0)
		return 0;
	return errno == ENXIO ? 1 : fault_errno(fault, CODE_FAILED, errno, "device-mapper: %s", name);
}
