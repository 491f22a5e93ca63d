// SPDX-License-Identifier: Apache-2.0
#include "drive/nvme.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "drive/wire.h"

enum { OPCODE_LOG = 0x02, OPCODE_IDENTIFY = 0x06, OPCODE_FORMAT = 0x80, OPCODE_SANITIZE = 0x84, LOG_SANITIZE = 0x81 };

#define CDW10 40u // offset of the command's own dwords

static void begin(uint8_t ret[NVME_COMMAND], uint8_t opcode, uint32_t nsid, uint32_t cdw10) {
	memset(ret, 0, NVME_COMMAND);
	ret[0] = opcode;
	put_le32(ret + 4, nsid);
	put_le32(ret + CDW10, cdw10);
}

void nvme_identify(uint32_t nsid, enum nvme_cns cns, uint8_t ret[NVME_COMMAND]) {
	begin(ret, OPCODE_IDENTIFY, nsid, cns);
}

void nvme_get_sanitize_log(uint8_t ret[NVME_COMMAND]) {
	begin(ret, OPCODE_LOG, NVME_ALL, (uint32_t)(NVME_LOG / 4 - 1) << 16 | LOG_SANITIZE);
}

void nvme_format(uint32_t nsid, const struct nvme_namespace *as, enum nvme_ses ses, uint8_t ret[NVME_COMMAND]) {
	begin(ret, OPCODE_FORMAT, nsid,
	      (as->format & 15u) | (as->extended ? 1u << 4 : 0) | (uint32_t)as->protection << 5 |
		      (as->first ? 1u << 8 : 0) | (uint32_t)ses << 9 | (as->format >> 4 & 3u) << 12);
}

void nvme_sanitize(enum nvme_sanact action, uint8_t ret[NVME_COMMAND]) {
	begin(ret, OPCODE_SANITIZE, 0, (uint32_t)action | (action == NVME_SANACT_OVERWRITE ? 1u << 4 : 0));
}

int nvme_controller_decode(const uint8_t *data, size_t size, struct nvme_controller *ret) {
	uint32_t oacs, sanicap;
	uint8_t fna;

	if (size < NVME_PAGE || is_zero(data, NVME_PAGE))
		return -EINVAL;
	*ret = (struct nvme_controller){.namespaces = get_le32(data + 516)};
	oacs = get_le16(data + 256);
	sanicap = get_le32(data + 328);
	fna = data[524];
	wire_text(ret->serial, data + 4, 20);
	wire_text(ret->model, data + 24, 40);
	wire_text(ret->nqn, data + 768, 256);
	ret->has_others = data[76] & 2;
	ret->has_format = oacs & 2;
	ret->has_allocated = oacs & 8;
	ret->format_all = fna & 3;
	ret->format_crypto = fna & 4;
	ret->sanitize_crypto = sanicap & 1;
	ret->sanitize_block = sanicap & 2;
	ret->sanitize_overwrite = sanicap & 4;
	return 0;
}

int nvme_namespace_decode(const uint8_t *data, size_t size, struct nvme_namespace *ret) {
	unsigned formats;

	if (size < NVME_PAGE)
		return -EINVAL;
	formats = data[25] + 1u; // NLBAF counts from 0
	*ret = (struct nvme_namespace){.blocks = get_le64(data),
				       .format = data[26] & 15,
				       .extended = data[26] & 16,
				       .protection = data[29] & 7,
				       .first = data[29] & 8};
	if (formats > 16)
		ret->format |= (uint8_t)((data[26] >> 5 & 3) << 4);
	if (formats > 64 || ret->format >= formats || ret->protection > 3)
		return -EINVAL;
	return 0;
}

int nvme_sanitize_decode(const uint8_t *data, size_t size, struct nvme_sanitize *ret) {
	if (size < NVME_LOG)
		return -EINVAL;
	*ret = (struct nvme_sanitize){.progress = (uint16_t)get_le16(data),
				      .status = (uint16_t)get_le16(data + 2),
				      .command = get_le32(data + 4),
				      .estimate_overwrite = get_le32(data + 8),
				      .estimate_block = get_le32(data + 12),
				      .estimate_crypto = get_le32(data + 16)};
	ret->state = ret->status & 7;
	ret->action = ret->command & 7;
	return ret->state <= NVME_DONE_NO_DEALLOCATE ? 0 : -EINVAL;
}

int nvme_list_decode(const uint8_t *data, size_t size, uint32_t ret[NVME_LIST_MAX], unsigned *ret_count) {
	uint32_t before = 0;

	*ret_count = 0;
	if (size < NVME_PAGE)
		return -EINVAL;
	for (unsigned i = 0; i < NVME_LIST_MAX; i++) {
		uint32_t nsid = get_le32(data + 4u * i);
		if (nsid == 0)
			return 0;
		if (nsid <= before || nsid == NVME_ALL)
			return -EINVAL;
		ret[(*ret_count)++] = before = nsid;
	}
	return -E2BIG;
}

void nvme_status_text(unsigned status, char *ret, size_t size) {
	static const struct {
		unsigned status;
		const char *text;
	} known[] = {
		{0x001, "the drive does not know the command"},
		{0x002, "a field is invalid"},
		{0x004, "data transfer error"},
		{0x006, "internal error"},
		{0x00b, "no such namespace, or a wrong format"},
		{0x00c, "commands out of sequence"},
		{0x015, "operation denied"},
		{0x01c, "a sanitize failed, and no other succeeded since"},
		{0x01d, "a sanitize is at work"},
		{0x020, "the namespace is write protected"},
		{0x084, "a format is at work"},
		{0x10a, "invalid format"},
		{0x10b, "firmware needs a reset first"},
		{0x11d, "firmware of another kind"},
		{0x123, "not while persistent memory is enabled"},
		{0x281, "a part of the drive is defective"},
		{0x286, "access denied: the drive is locked"},
	};
	const char *text = "unknown";

	status &= 0x7ff; // type and code, without the bits More and Do Not Retry
	for (unsigned i = 0; i < ELEMENTS(known); i++)
		if (known[i].status == status)
			text = known[i].text;
	snprintf(ret, size, "status 0x%03x, %s", status, text);
}
