// SPDX-License-Identifier: Apache-2.0
// A module of ipmi_sim (lan.conf, loadlib): answers the DCMI command "get power reading" with the number in a file.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Of OpenIPMI's lanserv.
typedef void handler(void *mc, void *msg, unsigned char *answer, unsigned int *length, void *file);
void ipmi_emu_register_group_extension_handler(uint8_t group, handler *call, void *data);
int ipmi_sim_module_init(void *system, const char *file);

enum { DCMI = 0xdc, REFUSED = 0xc1, LENGTH = 19, STATE = 18, ACTIVE = 1 << 6 };

static char path[256];

static void answer_reading(void *mc, void *msg, unsigned char *answer, unsigned int *length, void *data) {
	(void)mc, (void)msg, (void)data;
	unsigned int watts = 0;
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &watts) != 1) {
		answer[0] = REFUSED;
		*length = 1;
	} else {
		memset(answer, 0, LENGTH);
		answer[1] = DCMI;
		for (int i = 2; i < 10; i += 2) { // now, least, most, mean
			answer[i] = watts & 0xff;
			answer[i + 1] = watts >> 8 & 0xff;
		}
		answer[STATE] = ACTIVE;
		*length = LENGTH;
	}
	if (file)
		fclose(file);
}

int ipmi_sim_module_init(void *system, const char *file) {
	(void)system;
	snprintf(path, sizeof path, "%s", file);
	ipmi_emu_register_group_extension_handler(DCMI, answer_reading, NULL);
	return 0;
}
