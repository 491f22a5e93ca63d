// SPDX-License-Identifier: Apache-2.0
// The forms of exports are vectors of plans; here is what is taken of them.
#include "net/export.h"
#include "tap.h"

static void has_host(const char *text, const char *wanted) {
	char host[EXPORT_HOST] = "";
	struct fault fault;

	same(export_parse(text, host, &fault) == 0 ? host : "refused", wanted, "%s", text);
}

int main(void) {
	char text[EXPORT_MAX + 16];

	has_host("10.77.0.1:/srv/sled/images", "10.77.0.1");
	has_host("boot-1.example:/", "boot-1.example");
	has_host("[fd00::1]:/srv", "fd00::1");
	has_host("fd00::1:/srv", "refused");
	has_host("[fd00::1:/srv", "refused");
	has_host("a:srv", "refused");
	has_host("a:/srv/..", "refused");
	has_host("nfs://10.77.0.1/srv", "refused");
	snprintf(text, sizeof(text), "%0254d:/", 0);
	has_host(text, "refused");
	snprintf(text, sizeof(text), "a:/%0*d", (int)EXPORT_MAX, 0);
	has_host(text, "refused");
	return tap_done();
}
