// SPDX-License-Identifier: Apache-2.0
// The PSIDs that somebody has read off drives: lines "SERIAL PSID". A PSID is a secret: no text here repeats one. Pure
// functions.
#pragma once

#include "base/fault.h"

#define PSID 32u // characters (TCG Opal SSC Feature Set: PSID)

// Checks the whole file. Returns an error of code 2 if a line is malformed; the fault has its number.
int psids_check(const char *text, struct fault *fault);

// Finds the PSID of the drive with that serial number, in capital letters. Returns -ENOENT if there is none.
int psids_find(const char *text, const char *serial, char ret[PSID + 1]);
