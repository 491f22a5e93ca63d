// SPDX-License-Identifier: Apache-2.0
#include "drive/offers.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "drive/method.h"

void offers_add(struct offers *offers, enum erase_method method, bool whole, bool is_sanitize, uint32_t seconds) {
	if (offers->count < OFFERS_MAX)
		offers->items[offers->count++] = (struct offer){
			.method = method, .whole = whole, .is_sanitize = is_sanitize, .seconds = seconds};
}

void offers_add_named(struct offers *offers, enum erase_method method, uint32_t seconds) {
	if (offers->count < OFFERS_MAX)
		offers->items[offers->count++] = (struct offer){.method = method, .is_named = true, .seconds = seconds};
}

void offers_add_revert(struct offers *offers) {
	if (offers->count < OFFERS_MAX)
		offers->items[offers->count++] = (struct offer){.method = METHOD_OPAL_PSID_REVERT,
								.whole = true,
								.is_named = true,
								.seconds = SANITIZE_UNKNOWN};
}

void offers_remove(struct offers *offers, enum erase_method method) {
	unsigned kept = 0;

	for (unsigned i = 0; i < offers->count; i++)
		if (offers->items[i].method != method)
			offers->items[kept++] = offers->items[i];
	offers->count = kept;
}

static bool only_named(const struct offer *offer) {
	return offer->is_named || (offer->is_sanitize && offer->seconds == SANITIZE_UNKNOWN);
}

// Sanitize in the order of its time, then what is not one, in the order of the offers.
static bool is_better(const struct offer *a, const struct offer *b) {
	if (!b || a->is_sanitize != b->is_sanitize)
		return !b || a->is_sanitize;
	return a->is_sanitize && a->seconds < b->seconds;
}

static int refuse(const struct offers *offers, enum erase_method requested, const char *outside, struct fault *fault) {
	cleanup_with(text_free) struct text list = {0};

	for (unsigned i = 0; i < offers->count; i++) {
		const struct offer *offer = &offers->items[i];
		text_addf(&list, "%s%s%s", i ? ", " : "", method_name(offer->method),
			  offer->whole && outside ? " (would also reach other namespaces)"
			  : offer->is_named	  ? " (only when named)"
			  : only_named(offer)	  ? " (without an estimate, so only when named)"
						  : "");
	}
	return fault_set(fault, CODE_UNSUPPORTED, "%s%s: %s%sthe drive offers %s%s%s; nothing was touched",
			 requested == METHOD_AUTO ? "no command to take" : "no method ",
			 requested == METHOD_AUTO ? "" : method_name(requested), offers->note,
			 *offers->note ? "; " : "", offers->count ? text_string(&list) : "none", outside ? "; " : "",
			 outside ? outside : "");
}

int offers_choose(const struct offers *offers, enum erase_method requested, const char *outside, struct offer *ret,
		  struct fault *fault) {
	const struct offer *best = NULL;

	for (unsigned i = 0; i < offers->count; i++) {
		const struct offer *offer = &offers->items[i];
		if (requested != METHOD_AUTO) {
			if (offer->method != requested)
				continue;
			if (offer->whole && outside)
				return fault_set(fault, CODE_DISK, "%s would also erase what is not to be erased: %s",
						 method_name(requested), outside);
			best = offer;
		} else if (!(offer->whole && outside) && !only_named(offer) && is_better(offer, best))
			best = offer;
	}
	if (!best)
		return refuse(offers, requested, outside, fault);
	*ret = *best;
	return 0;
}
