// SPDX-License-Identifier: Apache-2.0
#include "source/range.h"

bool range_next(const struct index *index, const uint8_t *wanted, uint32_t from, struct range *ret) {
	const struct chunk *chunks = index->chunks;
	uint32_t i = from;

	while (i < index->chunk_count && !is_wanted(wanted, i))
		i++;
	*ret = (struct range){i, i};
	for (; i < index->chunk_count && frame_end(&chunks[i]) - chunks[ret->first].at <= RANGE_MAX; i++) {
		if (!is_wanted(wanted, i))
			continue;
		if (ret->end > ret->first && chunks[i].at - frame_end(&chunks[ret->end - 1]) > GAP_MAX)
			break;
		ret->end = i + 1;
	}
	return ret->end > ret->first;
}
