// SPDX-License-Identifier: Apache-2.0
// A payload of format multiboot: checks what it was given, and prints "multiboot: ok" and its arguments on the serial
// port, or what is wrong.
struct module {
	unsigned start, end;
	const char *string;
	unsigned reserved;
};
struct area {
	unsigned size;
	unsigned long long base, length;
	unsigned type;
} __attribute__((packed));
struct information {
	unsigned flags, lower, upper, device;
	const char *arguments;
	unsigned module_count;
	const struct module *modules;
	unsigned symbols[4], map_size;
	const char *map;
};

// The loader finds these three words in the first 8 KiB of the file.
__attribute__((section(".multiboot"), used)) static const unsigned header[] = {0x1badb002, 3, -(0x1badb002u + 3)};
__asm__(".globl _start\n_start: mov $stack + 8192, %esp\n push %ebx\n push %eax\n call run\n1: hlt\n jmp 1b\n"
	".lcomm stack, 8192");

static void put(const char *text) {
	for (; *text; text++) {
		unsigned char status = 0;
		while (!(status & 0x20))
			__asm__ volatile("inb %1, %0" : "=a"(status) : "Nd"((unsigned short)0x3fd));
		__asm__ volatile("outb %0, %1" : : "a"(*text), "Nd"((unsigned short)0x3f8));
	}
}

static int same(const char *a, const char *b) {
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static int has_memory(const struct information *info) {
	for (unsigned at = 0; at < info->map_size;) {
		const struct area *area = (const struct area *)(info->map + at);
		if (area->type == 1 && area->base <= 0x1000000 && area->base + area->length > 0x2000000)
			return 1;
		at += area->size + 4;
	}
	return 0;
}

void run(unsigned magic, const struct information *info);
void run(unsigned magic, const struct information *info) {
	const char *wrong = magic != 0x2badb002					       ? "magic"
			    : (info->flags & 0x4c) != 0x4c			       ? "flags"
			    : info->module_count != 1				       ? "number of modules"
			    : !same(info->modules->string, "/modules/01 first module") ? "string of the module"
			    : info->modules->end - info->modules->start != 8	       ? "size of the module"
			    : *(const char *)info->modules->start != 'c'	       ? "content of the module"
			    : !has_memory(info)					       ? "map of the memory"
										       : "";
	put("multiboot: ");
	put(*wrong ? "wrong: " : "ok: ");
	put(*wrong ? wrong : info->arguments);
	put("\r\n");
}
