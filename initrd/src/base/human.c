// SPDX-License-Identifier: Apache-2.0
#include "base/human.h"

#include "base/cleanup.h"

const char *human_bytes(uint64_t bytes, char ret[32]) {
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double n = (double)bytes;
	size_t i = 0;

	for (; n >= 1024 && i + 1 < ELEMENTS(units); i++)
		n /= 1024;
	snprintf(ret, 32, i ? "%.1f %s" : "%.0f %s", n, units[i]);
	return ret;
}

void json_string(FILE *out, const char *string) {
	fputc('"', out);
	for (; *string; string++) {
		if ((unsigned char)*string < 0x20)
			fprintf(out, "\\u%04x", *string);
		else
			fprintf(out, *string == '"' || *string == '\\' ? "\\%c" : "%c", *string);
	}
	fputc('"', out);
}
