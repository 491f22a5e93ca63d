// SPDX-License-Identifier: Apache-2.0
// Opens the image of a step, once digest and signature are proven.
#pragma once

#include "base/operand.h"
#include "source/open.h"

// `verb`: prefix of its messages.
int image_open_proven(struct source *source, const struct operands *operands, const char *verb, struct image *ret,
		      struct fault *fault);
