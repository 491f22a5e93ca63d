// SPDX-License-Identifier: Apache-2.0
#include "image/source.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DRAIN (64u * 1024)

struct file_source {
	struct source base;
	int fd;
};

static int file_source_read(struct source *source, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct file_source *file = (struct file_source *)source;
	ssize_t n;

	do
		n = read(file->fd, data, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(fault, CODE_FAILED, errno, "image file");
	*ret_size = (size_t)n;
	return 0;
}

static void file_source_close(struct source *source) {
	close(((struct file_source *)source)->fd);
	free(source);
}

int source_open_file(const char *path, struct source **ret, struct fault *fault) {
	static const struct source_ops ops = {file_source_read, file_source_close};
	struct file_source *file = malloc(sizeof(*file));

	if (!file)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", path);
	*file = (struct file_source){{&ops}, open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0) {
		free(file);
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	}
	*ret = &file->base;
	return 0;
}

struct hash_source {
	struct source base;
	struct source *inner;
	EVP_MD_CTX *hash;
};

static int hash_source_read(struct source *source, void *data, size_t size, size_t *ret_size, struct fault *fault) {
	struct hash_source *hash = (struct hash_source *)source;
	size_t n;
	int r = source_read(hash->inner, data, size, &n, fault);

	if (r < 0)
		return r;
	if (!EVP_DigestUpdate(hash->hash, data, n))
		return fault_set(fault, CODE_FAILED, "SHA-256 failed");
	*ret_size = n;
	return 0;
}

static void hash_source_close(struct source *source) {
	struct hash_source *hash = (struct hash_source *)source;
	source_close(&hash->inner);
	EVP_MD_CTX_free(hash->hash);
	free(hash);
}

int source_open_hash(struct source *inner, struct source **ret, struct fault *fault) {
	static const struct source_ops ops = {hash_source_read, hash_source_close};
	struct hash_source *hash = calloc(1, sizeof(*hash));

	if (hash)
		*hash = (struct hash_source){{&ops}, inner, EVP_MD_CTX_new()};
	if (!hash || !hash->hash || !EVP_DigestInit_ex(hash->hash, EVP_sha256(), NULL)) {
		if (hash)
			EVP_MD_CTX_free(hash->hash);
		free(hash);
		source_close(&inner);
		return fault_set(fault, CODE_FAILED, "SHA-256 is not available");
	}
	*ret = &hash->base;
	return 0;
}

static int drain(struct source *source, struct fault *fault) {
	cleanup_free char *buffer = malloc(DRAIN);
	size_t n = buffer != NULL;

	if (!buffer)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	while (n > 0) {
		int r = source_read(source, buffer, DRAIN, &n, fault);
		if (r < 0)
			return r;
	}
	return 0;
}

int source_hash_check(struct source *source, const char *digest, struct fault *fault) {
	struct hash_source *hash = (struct hash_source *)source;
	unsigned char bytes[EVP_MAX_MD_SIZE];
	char text[8 + 2 * EVP_MAX_MD_SIZE] = "sha256:";
	unsigned size;
	int r = drain(source, fault);

	if (r < 0)
		return r;
	if (!EVP_DigestFinal_ex(hash->hash, bytes, &size))
		return fault_set(fault, CODE_FAILED, "SHA-256 failed");
	for (unsigned i = 0; i < size; i++)
		sprintf(text + strlen(text), "%02x", bytes[i]);
	if (strcmp(text, digest))
		return fault_set(fault, CODE_INTEGRITY, "the image is %s, not %s", text, digest);
	return 0;
}

int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault) {
	bool file = urls->items[0].scheme == SCHEME_FILE;

	for (size_t i = 1; i < urls->count; i++)
		if (file || urls->items[i].scheme == SCHEME_FILE)
			return fault_set(fault, CODE_USAGE, "image: a file cannot be one of several URLs");
	return file ? source_open_file(urls->items[0].path, ret, fault)
		    : source_open_http(urls, ca, idle_ns, ret, fault);
}

void source_close(struct source **source) {
	if (*source)
		(*source)->ops->close(*source);
	*source = NULL;
}
