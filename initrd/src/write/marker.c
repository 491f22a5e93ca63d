// SPDX-License-Identifier: Apache-2.0
#include "write/marker.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define AT 2048u
#define MAGIC "sled-interrupted"
#define HASHED (sizeof(MAGIC) - 1 + 8 + HASH) // bytes that the checksum covers

// Makes the whole granule.
static int make(const struct device *device, const uint8_t digest[HASH], uint8_t *granule, struct fault *fault) {
	uint8_t *p = granule + AT;

	memcpy(p, MAGIC, sizeof(MAGIC) - 1);
	put_le64(p + 16, device->bytes);
	memcpy(p + 24, digest, HASH);
	if (EVP_Digest(p, HASHED, p + HASHED, NULL, EVP_sha256(), NULL) != 1)
		return fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	return 0;
}

int marker_find(struct device *device, const uint8_t digest[HASH], bool *ret, struct fault *fault) {
	cleanup_free uint8_t *wanted = device_buffer(GRANULE), *there = device_buffer(GRANULE);
	struct fault ignored;
	int r;

	*ret = false;
	if (device->bytes < CHUNK)
		return 0;
	if (!wanted || !there)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "marker");
	r = make(device, digest, wanted, fault);
	// A disk that cannot be read here may still be writable.
	*ret = r == 0 && device_read(device, there, GRANULE, 0, &ignored) == 0 && memcmp(wanted, there, GRANULE) == 0;
	return r;
}

int marker_write(struct device *device, const uint8_t digest[HASH], struct fault *fault) {
	cleanup_free uint8_t *granule = device_buffer(GRANULE);
	int r;

	if (device->bytes < CHUNK)
		return 0;
	if (!granule)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "marker");
	r = make(device, digest, granule, fault);
	return r == 0 ? device_write(device, granule, GRANULE, 0, fault) : r;
}
