// SPDX-License-Identifier: Apache-2.0
// The commands of a drive that erase it, and the choice of one. Pure functions.
#pragma once

#include "base/fault.h"
#include "drive/method.h"
#include "drive/sanitize.h"

#define OFFERS_MAX 8u

struct offer {
	enum erase_method method;
	bool whole;	  // it reaches everything on the drive, not only this disk
	bool is_sanitize; // it continues after a power cut, so that without an estimate it is taken only when named
	bool is_named;	  // it is taken only when named, whatever the drive estimates
	uint32_t seconds; // what the drive estimates, or SANITIZE_UNKNOWN
};

struct offers {
	unsigned count;
	struct offer items[OFFERS_MAX];
	char note[160]; // why there are not more; may be empty
	bool hides;	// the drive hides sectors, so that nothing reaches all of it
};

void offers_add(struct offers *offers, enum erase_method method, bool whole, bool is_sanitize, uint32_t seconds);

// A command that is never taken by auto.
void offers_add_named(struct offers *offers, enum erase_method method, uint32_t seconds);

// The revert by PSID, which reaches all of the drive.
void offers_add_revert(struct offers *offers);

// After the drive has refused it.
void offers_remove(struct offers *offers, enum erase_method method);

// `outside`: what a command that reaches the whole drive would erase without being asked to; NULL: nothing. Returns
// an error of code 4 if the requested command would; of code 3 if there is none, and the fault names what the drive
// offers.
int offers_choose(const struct offers *offers, enum erase_method requested, const char *outside, struct offer *ret,
		  struct fault *fault);
