// SPDX-License-Identifier: Apache-2.0
// Checks of operand values: each fault describes a valid value.
#pragma once

#include "base/fault.h"

int check_selector(const char *value, struct fault *fault);
int check_partition(const char *value, struct fault *fault);
int check_disks(const char *value, struct fault *fault); // of a wipe
int check_keep(const char *value, struct fault *fault);
int check_urls(const char *value, struct fault *fault);
int check_url(const char *value, struct fault *fault); // one
int check_digest(const char *value, struct fault *fault);
int check_image_name(const char *value, struct fault *fault);
int check_statement(const char *value, struct fault *fault);
int check_signature(const char *value, struct fault *fault);
int check_level(const char *value, struct fault *fault);
int check_number(const char *value, struct fault *fault);
int check_positive(const char *value, struct fault *fault);
int check_nodes(const char *value, struct fault *fault);     // how many
int check_multicast(const char *value, struct fault *fault); // the fault does not contain the key
int check_data_name(const char *value, struct fault *fault);
int check_uuid(const char *value, struct fault *fault);
int check_mount(const char *value, struct fault *fault);
int check_watchdog(const char *value, struct fault *fault);
int check_job(const char *value, struct fault *fault);
int check_export(const char *value, struct fault *fault);
int check_seconds(const char *value, struct fault *fault);
int check_keys(const char *value, struct fault *fault);
int check_hostname(const char *value, struct fault *fault);
int check_stamp(const char *value, struct fault *fault);
int check_mac(const char *value, struct fault *fault);
