// SPDX-License-Identifier: Apache-2.0
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>

#include "base/border.h"
#include "base/cleanup.h"
#include "node/hostkey.h"
#include "verbs/verbs.h"

const struct operand_rule hostkey_rules[] = {
	{"root", true, "folder where the installed system is mounted", NULL, NULL},
	{"out", true, "file in it for the private key, readable only by its owner; FILE.pub gets the public half", NULL,
	 NULL},
	{"kind", false, HOSTKEY_KINDS " (default ed25519)", NULL, NULL},
	{0},
};

static void free_key(EVP_PKEY **key) { EVP_PKEY_free(*key); }

static void wipe_text(struct text *text) {
	if (text->data)
		OPENSSL_cleanse(text->data, text->size);
	text_free(text);
}

static int write_key(const EVP_PKEY *key, const struct text *line, const struct border *root, const char *out,
		     struct fault *fault) {
	const struct border_mode private_mode = {0600, (uid_t)-1, (gid_t)-1},
				 public_mode = {0644, (uid_t)-1, (gid_t)-1};
	cleanup_with(wipe_text) struct text file = {0};
	cleanup_with(text_free) struct text name = {0};
	int r = hostkey_file(key, &file, fault);

	text_addf(&name, "%s.pub", out);
	if (r == 0 && (file.failed || name.failed))
		r = fault_set(fault, CODE_FAILED, "%s: out of memory", out);
	if (r == 0)
		r = border_write(root, out, &private_mode, file.data, file.size, fault);
	return r < 0 ? r : border_write(root, name.data, &public_mode, line->data, line->size, fault);
}

enum exit_code verb_hostkey(const struct operands *operands) {
	cleanup_with(border_close) struct border root = {.fd = -1};
	cleanup_with(free_key) EVP_PKEY *key = NULL;
	cleanup_with(text_free) struct text line = {0};
	struct fault fault;
	int r = border_open(operands_get(operands, "root"), &root, &fault);

	if (r == 0)
		r = hostkey_make(operands_get_or(operands, "kind", "ed25519"), &key, &fault);
	if (r == 0)
		r = hostkey_line(key, &line, &fault);
	text_adds(&line, "\n");
	if (r == 0 && line.failed)
		r = fault_set(&fault, CODE_FAILED, "out of memory");
	if (r == 0)
		r = write_key(key, &line, &root, operands_get(operands, "out"), &fault);
	if (r < 0)
		return fault_print(&fault, "hostkey");
	return fputs(text_string(&line), stdout) < 0 || fflush(stdout) ? CODE_FAILED : CODE_DONE;
}
