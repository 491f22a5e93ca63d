// SPDX-License-Identifier: Apache-2.0
// Stands for a kernel: writes its path and its arguments to the serial port.
#include <stddef.h>
#include <stdint.h>

struct guid {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};
#define EFI __attribute__((ms_abi))

struct boot_services {
	uint8_t header[24];
	void *before[16];
	EFI uint64_t (*handle_protocol)(void *handle, const struct guid *protocol, void **ret);
};

struct system_table {
	uint8_t header[24];
	void *before[9];
	struct boot_services *services;
};

struct node {
	uint8_t type, subtype;
	uint16_t size;
	uint16_t path[];
};

struct loaded_image {
	uint32_t revision;
	void *parent, *table, *device;
	const struct node *file;
	void *reserved;
	uint32_t options_size;
	const uint16_t *options;
};

static void put(char c) {
	uint8_t status;

	do
		__asm__ volatile("inb %1, %0" : "=a"(status) : "Nd"((uint16_t)0x3fd));
	while (!(status & 0x20));
	__asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((uint16_t)0x3f8));
}

static void put_string(const char *text) {
	while (*text)
		put(*text++);
}

static void put_wide(const uint16_t *text, size_t bytes) {
	for (size_t i = 0; i < bytes / 2 && text[i]; i++)
		put((char)text[i]);
}

EFI uint64_t start(void *image, const struct system_table *table) {
	static const struct guid loaded = {0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
	const struct loaded_image *self = NULL;

	table->services->handle_protocol(image, &loaded, (void **)&self);
	put_string("<linux ");
	for (const struct node *n = self->file; n && n->type == 4; n = (const void *)((const uint8_t *)n + n->size))
		put_wide(n->path, n->size - 4u);
	put(' ');
	put_wide(self->options, self->options_size);
	put('>');
	for (;;)
		__asm__ volatile("hlt");
}
