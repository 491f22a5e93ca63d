// SPDX-License-Identifier: Apache-2.0
#include "source/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/fetch.h"

struct stream {
	struct fetch fetch; // for a local file, only its source and range are used
};

int stream_open(struct source *source, struct stream **ret, struct fault *fault) {
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	stream->fetch.source = source;
	stream->fetch.choice.server = atomic_fetch_add(&source->opened, 1) % (unsigned)source->urls->count;
	stream->fetch.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stream->fetch.wake < 0) {
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
	http_close(&(*stream)->fetch.http);
	close((*stream)->fetch.wake);
	free(*stream);
	*stream = NULL;
}

void stream_stop(struct stream *stream) { (void)eventfd_write(stream->fetch.wake, 1); }

void stream_range(struct stream *stream, uint64_t from, uint64_t size) {
	fetch_drop(&stream->fetch);
	stream->fetch.at = from;
	stream->fetch.left = size;
}

static int read_file(struct fetch *fetch, void *data, size_t size, struct fault *fault) {
	for (char *to = data; size > 0;) {
		ssize_t n = pread(fetch->source->fd, to, size, (off_t)fetch->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fault_errno(fault, CODE_FAILED, n < 0 ? errno : EIO, "%s at byte %llu",
					   fetch->source->urls->items[0].path, (unsigned long long)fetch->at);
		atomic_fetch_add(&fetch->source->received, (uint64_t)n);
		fetch->at += (uint64_t)n;
		fetch->left -= (uint64_t)n;
		to += n;
		size -= (size_t)n;
	}
	return 0;
}

int stream_read(struct stream *stream, void *data, size_t size, struct fault *fault) {
	struct fetch *fetch = &stream->fetch;
	uint64_t end, known;

	if (size > fetch->left)
		return fault_set(fault, CODE_FAILED, "image: a read of %zu bytes past its range", size);
	if (__builtin_add_overflow(fetch->at, fetch->left, &end) ||
	    (source_knows_size(fetch->source, &known) && end > known))
		return fault_set(fault, CODE_INTEGRITY,
				 "image: bytes %llu to %llu are needed, but the file ends before",
				 (unsigned long long)fetch->at, (unsigned long long)(fetch->at + fetch->left));
	return fetch->source->fd >= 0 ? read_file(fetch, data, size, fault) : fetch_read(fetch, data, size, fault);
}

// The response for the first byte contains the size of the file.
static int ask_size(struct source *source, struct fault *fault) {
	cleanup_with(stream_close) struct stream *stream = NULL;
	char byte;
	int r = stream_open(source, &stream, fault);

	if (r < 0)
		return r;
	stream_range(stream, 0, 1);
	return stream_read(stream, &byte, 1, fault);
}

int stream_file_size(struct source *source, uint64_t *ret, struct fault *fault) {
	int r = source_knows_size(source, ret) ? 0 : ask_size(source, fault);

	if (r == 0)
		source_knows_size(source, ret);
	return r;
}
