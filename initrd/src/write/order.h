// SPDX-License-Identifier: Apache-2.0
// How an image is written.
#pragma once

enum write_mode { WRITE_FULL, WRITE_DELTA, WRITE_AUTO };
enum write_gaps { GAPS_DISCARD, GAPS_ZERO, GAPS_KEEP };
enum write_check { CHECK_NONE, CHECK_SAMPLE, CHECK_FULL };

struct multicast_address;

struct write_order {
	enum write_mode mode;
	enum write_gaps gaps;
	enum write_check check;		     // read back
	struct multicast_address *multicast; // where it is sent; NULL: nowhere
};
