// SPDX-License-Identifier: Apache-2.0
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define STREAMS_MAX 4u
#define CAPTURED "/images/captured/" // where a boot server serves captured images

static int open_file(struct source *source, struct fault *fault) {
	const char *path = source->urls->items[0].path;
	struct stat st;

	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 || fstat(source->fd, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(fault, CODE_FAILED, "%s: an image must be a regular file", path);
	source->has_size = true;
	source->size = (uint64_t)st.st_size;
	return 0;
}

static int check_urls_alike(const struct urls *urls, struct fault *fault) {
	if (urls->count == 0)
		return fault_set(fault, CODE_USAGE, "image: a URL is required");
	for (size_t i = 0; urls->count > 1 && i < urls->count; i++)
		if (urls->items[i].scheme == SCHEME_FILE)
			return fault_set(fault, CODE_USAGE, "image: a file cannot be one of several URLs");
	return 0;
}

int source_open(const struct urls *urls, const char *ca, int64_t idle_ns, struct source **ret, struct fault *fault) {
	cleanup_with(source_close) struct source *source = NULL;
	int r = check_urls_alike(urls, fault);

	if (r < 0)
		return r;
	if (!(source = calloc(1, sizeof(*source))))
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	source->urls = urls;
	source->ca = ca;
	source->idle_ns = idle_ns;
	source->fd = -1;
	servers_init(&source->servers, urls);
	pthread_mutex_init(&source->lock, NULL);
	if (urls->items[0].scheme == SCHEME_FILE && (r = open_file(source, fault)) < 0)
		return r;
	*ret = steal_pointer(&source);
	return 0;
}

void source_close(struct source **source) {
	if (!*source)
		return;
	cleanup_close_(&(*source)->fd);
	pthread_mutex_destroy(&(*source)->lock);
	servers_free(&(*source)->servers);
	free(*source);
	*source = NULL;
}

void source_use_token(struct source *source, const char *path) { source->token_file = path; }

int source_token(const struct source *source, const struct url *url, char ret[TOKEN_MAX + 1], struct fault *fault) {
	bool safe = url->scheme == SCHEME_HTTPS || url_is_loopback(url);

	ret[0] = 0;
	if (!source->token_file || !safe || strncmp(url->path, CAPTURED, strlen(CAPTURED)) != 0)
		return 0;
	return api_read_token(source->token_file, ret, fault);
}

bool source_knows_size(struct source *source, uint64_t *ret) {
	bool known;

	pthread_mutex_lock(&source->lock);
	if ((known = source->has_size))
		*ret = source->size;
	pthread_mutex_unlock(&source->lock);
	return known;
}

int source_learn_size(struct source *source, uint64_t size, struct fault *fault) {
	uint64_t before = size;

	if (!source_knows_size(source, &before)) {
		pthread_mutex_lock(&source->lock);
		if (!source->has_size)
			source->size = size;
		source->has_size = true;
		before = source->size;
		pthread_mutex_unlock(&source->lock);
	}
	if (before != size)
		return fault_set(fault, CODE_NETWORK, "the file has %llu bytes on this server, %llu on another",
				 (unsigned long long)size, (unsigned long long)before);
	return 0;
}

uint64_t source_received(const struct source *source) { return atomic_load(&source->received); }

unsigned source_streams(const struct source *source) {
	unsigned wanted = 2 * (unsigned)source->urls->count;
	return source->fd >= 0 ? 1 : wanted < STREAMS_MAX ? wanted : STREAMS_MAX;
}
