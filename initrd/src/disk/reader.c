// SPDX-License-Identifier: Apache-2.0
#include "disk/reader.h"

#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

int reader_open(int fd, const char *name, struct reader *ret, uint32_t *ret_sector, struct fault *fault) {
	struct stat st;
	uint64_t bytes;
	int sector = 0;

	if (fstat(fd, &st) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", name);
	bytes = (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode) && (ioctl(fd, BLKGETSIZE64, &bytes) < 0 || ioctl(fd, BLKSSZGET, &sector) < 0))
		return fault_errno(fault, CODE_FAILED, errno, "%s: size", name);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return fault_set(fault, CODE_UNSUPPORTED, "%s is neither a file nor a block device", name);
	*ret = (struct reader){.name = name, .bytes = bytes, .fd = fd};
	*ret_sector = (uint32_t)sector;
	return 0;
}

static int read_plain(const struct reader *reader, uint8_t *data, size_t size, uint64_t offset, struct fault *fault) {
	while (size > 0) {
		ssize_t n = pread(reader->fd, data, size, (off_t)(reader->start + offset));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fault_errno(fault, CODE_FAILED, n < 0 ? errno : EIO, "%s: read at byte %llu",
					   reader->name, (unsigned long long)offset);
		data += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

// Reads through a buffer that is aligned for O_DIRECT.
static int read_aligned(const struct reader *reader, void *data, size_t size, uint64_t offset, struct fault *fault) {
	uint64_t from = offset / READ_ALIGN * READ_ALIGN,
		 to = (offset + size + READ_ALIGN - 1) / READ_ALIGN * READ_ALIGN;
	cleanup_free uint8_t *whole = aligned_alloc(READ_ALIGN, to - from);
	int r;

	if (!whole)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);
	r = read_plain(reader, whole, (to < reader->bytes ? to : reader->bytes) - from, from, fault);
	if (r == 0)
		memcpy(data, whole + (offset - from), size);
	return r;
}

int reader_read(const struct reader *reader, void *data, size_t size, uint64_t offset, struct fault *fault) {
	if (offset > reader->bytes || size > reader->bytes - offset)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s ends at byte %llu, but its content continues at byte %llu: it was cut off",
				 reader->name, (unsigned long long)reader->bytes, (unsigned long long)offset);
	if (reader->memory) {
		memcpy(data, reader->memory + offset, size);
		return 0;
	}
	if ((uintptr_t)data % READ_ALIGN || offset % READ_ALIGN ||
	    (size % READ_ALIGN && offset + size != reader->bytes))
		return read_aligned(reader, data, size, offset, fault);
	return read_plain(reader, data, size, offset, fault);
}

uint64_t reader_next_data(const struct reader *reader, uint64_t at) {
	off_t data = reader->memory ? (off_t)at : lseek(reader->fd, (off_t)(reader->start + at), SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? UINT64_MAX : at; // ENXIO: no data behind it; others: it has no holes
	return reader->memory ? at : (uint64_t)data - reader->start;
}
