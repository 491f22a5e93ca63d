// SPDX-License-Identifier: Apache-2.0
#include "image/write.h"

#include <errno.h>

#include "base/cleanup.h"
#include "image/image.h"
#include "image/pipeline.h"

static int zero_from(struct device *device, uint64_t offset, struct fault *fault) {
	uint64_t size = device->bytes - offset;
	return device_zero(device, offset, size < BLOCK ? size : BLOCK, fault);
}

// The first MiB, the last of the image and the last of the disk: partition tables and their copies, boot sectors.
static int zero_ends(struct device *device, uint64_t bytes, struct fault *fault) {
	uint64_t image_end = bytes > BLOCK ? (bytes - 1) / BLOCK * BLOCK : 0;
	uint64_t disk_end = device->bytes > BLOCK ? device->bytes - BLOCK : 0;
	int r = zero_from(device, 0, fault);

	if (r == 0)
		r = zero_from(device, image_end, fault);
	if (r == 0)
		r = zero_from(device, disk_end, fault);
	return r == 0 ? device_sync(device, fault) : r;
}

static int write_head(struct device *device, const unsigned char *head, size_t size, struct fault *fault) {
	size_t padded = (size + device->sector - 1) / device->sector * device->sector;
	int r = device_write(device, head, padded, 0, fault);
	return r == 0 ? device_sync(device, fault) : r;
}

static int write_verified(struct source *source, const struct write_order *order, struct device *device,
			  struct progress *progress, struct fault *fault) {
	cleanup_with(image_close) struct image *image = NULL;
	cleanup_free unsigned char *head = device_buffer(BLOCK);
	size_t head_size = 0;
	int r = head ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "write");

	if (r == 0)
		r = (order->raw ? image_open_raw : image_open_zstd)(source, &image, fault);
	if (r == 0)
		r = pipeline_run(image, device, order->bytes, head, &head_size, progress, fault);
	if (r == 0)
		r = source_hash_check(source, order->digest, fault);
	if (r == 0)
		r = device_sync(device, fault);
	return r == 0 ? write_head(device, head, head_size, fault) : r;
}

int write_image(struct source *source, const struct write_order *order, struct device *device, struct progress *progress,
		struct fault *fault) {
	cleanup_with(source_close) struct source *hashed = NULL;
	struct fault ignored;
	int r;

	if (order->bytes > device->bytes) {
		source_close(&source);
		return fault_set(fault, CODE_DISK, "%s has %llu bytes, the image needs %llu", device->name,
				 (unsigned long long)device->bytes, (unsigned long long)order->bytes);
	}
	r = source_open_hash(source, &hashed, fault);
	if (r < 0)
		return r;
	progress_begin(progress, order->bytes);
	r = zero_ends(device, order->bytes, fault);
	if (r == 0)
		r = write_verified(hashed, order, device, progress, fault);
	if (r < 0) {
		(void)zero_ends(device, order->bytes, &ignored);
		return r;
	}
	progress_tick(progress, order->bytes);
	progress_end(progress);
	device_reread(device);
	return 0;
}
