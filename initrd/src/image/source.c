// SPDX-License-Identifier: Apache-2.0
#include "image/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/stream.h"

#define PAUSE_MAX (5 * SECOND)
#define STREAMS_MAX 4u

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
		return fault_set(fault, CODE_USAGE, "image: no URL");
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
	pthread_mutex_init(&source->lock, NULL);
	for (size_t i = 0; i < urls->count; i++)
		source->servers[i].backoff.max = PAUSE_MAX;
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
	free(*source);
	*source = NULL;
}

// The first byte's answer says how long the file is.
static int ask_size(struct source *source, struct fault *fault) {
	cleanup_with(stream_close) struct stream *stream = NULL;
	char byte;
	int r = stream_open(source, &stream, fault);

	if (r < 0)
		return r;
	stream_range(stream, 0, 1);
	return stream_read(stream, &byte, 1, fault);
}

static bool size_known(struct source *source, uint64_t *ret) {
	bool known;

	pthread_mutex_lock(&source->lock);
	if ((known = source->has_size))
		*ret = source->size;
	pthread_mutex_unlock(&source->lock);
	return known;
}

int source_size(struct source *source, uint64_t *ret, struct fault *fault) {
	int r = size_known(source, ret) ? 0 : ask_size(source, fault);

	if (r == 0)
		size_known(source, ret);
	return r;
}

int source_learn_size(struct source *source, uint64_t size, struct fault *fault) {
	uint64_t before = size;

	if (!size_known(source, &before)) {
		pthread_mutex_lock(&source->lock);
		if (!source->has_size)
			source->size = size;
		source->has_size = true;
		before = source->size;
		pthread_mutex_unlock(&source->lock);
	}
	if (before != size)
		return fault_set(fault, CODE_NETWORK, "the file has %llu bytes here, %llu elsewhere", (unsigned long long)size,
				 (unsigned long long)before);
	return 0;
}

uint64_t source_received(const struct source *source) { return atomic_load(&source->received); }

unsigned source_streams(const struct source *source) {
	unsigned wanted = 2 * (unsigned)source->urls->count;
	return source->fd >= 0 ? 1 : wanted < STREAMS_MAX ? wanted : STREAMS_MAX;
}

int stream_open(struct source *source, struct stream **ret, struct fault *fault) {
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	stream->source = source;
	stream->choice.server = atomic_fetch_add(&source->opened, 1) % (unsigned)source->urls->count;
	stream->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stream->wake < 0) {
		int r = fault_errno(fault, CODE_FAILED, errno, "image");
		free(stream);
		return r;
	}
	*ret = stream;
	return 0;
}

void stream_close(struct stream **stream) {
	if (!*stream)
		return;
	http_close(&(*stream)->http);
	close((*stream)->wake);
	free(*stream);
	*stream = NULL;
}

void stream_stop(struct stream *stream) { (void)eventfd_write(stream->wake, 1); }

void stream_range(struct stream *stream, uint64_t from, uint64_t size) {
	if (stream->answering)
		http_close(&stream->http);
	stream->answering = false;
	stream->at = from;
	stream->left = size;
}

int file_read_at(struct stream *stream, void *data, size_t size, struct fault *fault) {
	for (char *to = data; size > 0;) {
		ssize_t n = pread(stream->source->fd, to, size, (off_t)stream->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fault_errno(fault, CODE_FAILED, n < 0 ? errno : EIO, "%s at byte %llu", stream->source->urls->items[0].path,
					   (unsigned long long)stream->at);
		atomic_fetch_add(&stream->source->received, (uint64_t)n);
		stream->at += (uint64_t)n;
		stream->left -= (uint64_t)n;
		to += n;
		size -= (size_t)n;
	}
	return 0;
}

int stream_read(struct stream *stream, void *data, size_t size, struct fault *fault) {
	uint64_t end, known;

	if (size > stream->left)
		return fault_set(fault, CODE_FAILED, "image: a read of %zu bytes past its range", size);
	if (__builtin_add_overflow(stream->at, stream->left, &end) || (size_known(stream->source, &known) && end > known))
		return fault_set(fault, CODE_INTEGRITY, "image: bytes %llu to %llu are wanted, past the file's end",
				 (unsigned long long)stream->at, (unsigned long long)(stream->at + stream->left));
	return stream->source->fd >= 0 ? file_read_at(stream, data, size, fault) : http_read_at(stream, data, size, fault);
}
