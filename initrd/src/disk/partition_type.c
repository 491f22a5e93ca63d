// SPDX-License-Identifier: Apache-2.0
#include "disk/partition_type.h"

#include <string.h>

#include "base/cleanup.h"
#include "disk/guid.h"

enum partition_type partition_type_mbr(uint8_t type) {
	switch (type) {
	case 0x82: return PARTITION_SWAP;
	case 0xa5: // FreeBSD
	case 0xa6: // OpenBSD
	case 0xa9: // NetBSD
		return PARTITION_SLICE;
	case 0x41: // PReP boot
	case 0x8e: // Linux LVM
	case 0xbf: // Solaris
	case 0xda: // no filesystem
	case 0xe8: // LUKS
	case 0xfb: // VMFS
	case 0xfc: // swap of VMware
	case 0xfd: // Linux RAID
		return PARTITION_OTHER;
	default: return PARTITION_ANY;
	}
}

enum partition_type partition_type_gpt(const uint8_t guid[16]) {
	static const struct {
		const char *guid;
		enum partition_type type;
	} all[] = {
		{"0657fd6d-a4ab-43c4-84e5-0933c84b4f4f", PARTITION_SWAP},
		{"a19d880f-05fc-4d3b-a006-743f0f84911e", PARTITION_OTHER}, // Linux RAID
		{"e6d6d379-f507-44c2-a23c-238f2a3df928", PARTITION_OTHER}, // Linux LVM
		{"7ffec5c9-2d00-49b7-8941-3ea10a5586b7", PARTITION_OTHER}, // dm-crypt, plain
		{"ca7d7ccb-63ed-4c53-861c-1742536059cc", PARTITION_OTHER}, // LUKS
		{"21686148-6449-6e6f-744e-656564454649", PARTITION_OTHER}, // BIOS boot
		{"9e1a2d38-c612-4316-aa26-8b49521e5a8b", PARTITION_OTHER}, // PReP boot
		{"e3c9e316-0b5c-4db8-817d-f92df00215ae", PARTITION_OTHER}, // Microsoft reserved
		{"e75caf8f-f680-4cee-afa3-b001e56efc2d", PARTITION_OTHER}, // Microsoft Storage Spaces
		{"6a898cc3-1dd2-11b2-99a6-080020736631", PARTITION_OTHER}, // ZFS
		{"516e7cba-6ecf-11d6-8ff8-00022d09712b", PARTITION_OTHER}, // ZFS of FreeBSD
		{"516e7cb8-6ecf-11d6-8ff8-00022d09712b", PARTITION_OTHER}, // vinum of FreeBSD
		{"49f48daa-b10e-11dc-b99b-0019d1879648", PARTITION_OTHER}, // RAID of NetBSD
		{"52414944-0000-11aa-aa11-00306543ecac", PARTITION_OTHER}, // Apple RAID
		{"53746f72-6167-11aa-aa11-00306543ecac", PARTITION_OTHER}, // Apple Core Storage
		{"4fbd7e29-9d25-41b8-afd0-062c0ceff05d", PARTITION_OTHER}, // Ceph OSD
		{"45b0969e-9b03-4f30-b4c6-b4b80ceff106", PARTITION_OTHER}, // Ceph journal
		{"aa31e02a-400f-11db-9590-000c2911d1b8", PARTITION_OTHER}, // VMFS
		{"9d275380-40ad-11db-bf97-000c2911d1b8", PARTITION_OTHER}, // VMware's dump
	};
	uint8_t one[GUID_BYTES];

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		guid_parse(all[i].guid, one);
		if (!memcmp(one, guid, GUID_BYTES))
			return all[i].type;
	}
	return PARTITION_ANY;
}
