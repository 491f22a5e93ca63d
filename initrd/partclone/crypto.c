// SPDX-License-Identifier: Apache-2.0
// Stands in for libcrypto in the initrd. partclone links it for the checksums of BitTorrent, which nobody asks for on a
// node; the real one is a fifth of the initrd. Who calls one of these gets an abort.
#include <stdlib.h>

#define ABSENT(name)               \
	_Noreturn void name(void); \
	void name(void) { abort(); }

ABSENT(EVP_DigestFinal)
ABSENT(EVP_DigestInit)
ABSENT(EVP_DigestUpdate)
ABSENT(EVP_MD_CTX_free)
ABSENT(EVP_MD_CTX_new)
ABSENT(EVP_MD_CTX_reset)
ABSENT(EVP_sha1)
