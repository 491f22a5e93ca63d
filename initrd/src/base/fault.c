// SPDX-License-Identifier: Apache-2.0
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int error_of_code[] = {
	[CODE_FAILED] = EIO,  [CODE_USAGE] = EINVAL,	  [CODE_UNSUPPORTED] = EOPNOTSUPP,
	[CODE_DISK] = ENODEV, [CODE_INTEGRITY] = EBADMSG, [CODE_NETWORK] = ENETUNREACH,
};

int fault_set(struct fault *fault, enum exit_code code, const char *format, ...) {
	va_list arguments;

	fault->code = code;
	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return -error_of_code[code];
}

int fault_errno(struct fault *fault, enum exit_code code, int error, const char *format, ...) {
	va_list arguments;
	size_t n;

	if (error < 0)
		error = -error;
	fault->code = code;
	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	n = strlen(fault->text);
	snprintf(fault->text + n, sizeof(fault->text) - n, ": %s", strerror(error));
	return -error;
}

int fault_prefix(struct fault *fault, int error, const char *format, ...) {
	char prefix[256], whole[sizeof(fault->text) + sizeof(prefix)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(prefix, sizeof(prefix), format, arguments);
	va_end(arguments);
	snprintf(whole, sizeof(whole), "%s%s", prefix, fault->text);
	whole[sizeof(fault->text) - 1] = 0;
	memcpy(fault->text, whole, strlen(whole) + 1);
	return error;
}

int fault_print(const struct fault *fault, const char *who) {
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", who, fault->text);
	return fault->code;
}
