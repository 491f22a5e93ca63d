// SPDX-License-Identifier: Apache-2.0
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "base/border.h"
#include "base/cleanup.h"
#include "node/hostkey.h"
#include "verbs/verbs.h"

const struct operand_rule hostkey_rules[] = {
	{"root", true, "folder where the installed system is mounted", NULL, NULL},
	{"out", true, "file in it for the private key, readable only by its owner; FILE.pub gets the public half", NULL,
	 NULL},
	{0},
};

static void wipe_key(struct hostkey *key) { OPENSSL_cleanse(key, sizeof(*key)); }

static void wipe_text(struct text *text) {
	if (text->data)
		OPENSSL_cleanse(text->data, text->size);
	text_free(text);
}

static int write_key(const struct hostkey *key, const char *line, const struct border *root, const char *out,
		     struct fault *fault) {
	const struct border_mode private_mode = {0600, (uid_t)-1, (gid_t)-1},
				 public_mode = {0644, (uid_t)-1, (gid_t)-1};
	cleanup_with(wipe_text) struct text file = {0};
	cleanup_with(text_free) struct text name = {0}, public = {0};
	uint32_t check;
	int r;

	if (RAND_bytes((unsigned char *)&check, sizeof(check)) != 1)
		return fault_set(fault, CODE_FAILED, "libcrypto has no random numbers");
	hostkey_file(key, check, &file);
	text_addf(&name, "%s.pub", out);
	text_addf(&public, "%s\n", line);
	if (file.failed || name.failed || public.failed)
		return fault_set(fault, CODE_FAILED, "%s: out of memory", out);
	r = border_write(root, out, &private_mode, file.data, file.size, fault);
	return r < 0 ? r : border_write(root, name.data, &public_mode, public.data, public.size, fault);
}

enum exit_code verb_hostkey(const struct operands *operands) {
	cleanup_with(border_close) struct border root = {.fd = -1};
	cleanup_with(wipe_key) struct hostkey key = {0};
	char line[HOSTKEY_LINE + 1];
	struct fault fault;
	int r = border_open(operands_get(operands, "root"), &root, &fault);

	if (r == 0)
		r = hostkey_make(&key, &fault);
	if (r == 0) {
		hostkey_line(&key, line);
		r = write_key(&key, line, &root, operands_get(operands, "out"), &fault);
	}
	if (r < 0)
		return fault_print(&fault, "hostkey");
	return puts(line) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
