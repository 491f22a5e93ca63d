// SPDX-License-Identifier: Apache-2.0
// Packets of multicast: the contract's vectors, both ways.
#include <glob.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "multicast/packet.h"
#include "tap.h"

struct vector {
	struct session session;
	uint8_t *data; // of exactly that size, so that ASan sees every read past its end
	size_t size;
	const char *why;
	char *fields;
};

static size_t from_hex(const char *hex, uint8_t *ret) {
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &ret[i]) != 1)
			abort();
	return size;
}

// Takes the words before the fields off `text`, in place.
static struct vector read_vector(char *text) {
	struct vector v = {.fields = text};

	for (char *line = strsep(&v.fields, "\n"); line; line = strsep(&v.fields, "\n")) {
		char *value = strchr(line, ' ') + 1;
		if (!strncmp(line, "key ", 4)) {
			v.session.has_key = true;
			from_hex(value, v.session.key);
		} else if (!strncmp(line, "id ", 3)) {
			from_hex(value, v.session.id);
		} else {
			v.size = strlen(value) / 2;
			v.data = malloc(v.size > 0 ? v.size : 1);
			from_hex(value, v.data);
			break;
		}
	}
	if (!strncmp(v.fields, "why ", 4)) {
		v.why = v.fields + 4;
		v.fields[strcspn(v.fields, "\n")] = 0;
	}
	return v;
}

static void show_need(const struct packet *p, struct text *text) {
	text_addf(text, "sequence %u\nclient %u\nreceived %u\nlost %u\ndropped %u\nroom %u\nexpected %u\n", p->sequence,
		  p->need.client, p->need.received, p->need.lost, p->need.dropped, p->need.room, p->need.expected);
	for (uint32_t i = 0; i < p->need.entry_count; i++) {
		const struct need_entry *entry = &p->need.entries[i];
		if (entry->missing)
			text_addf(text, "parity %u %u %u\n", entry->chunk, entry->block, entry->missing);
		else
			text_addf(text, "need %u %u\n", entry->chunk, entry->count);
	}
}

static void show_announce(const struct packet *p, struct text *text) {
	const struct announce_packet *a = &p->announce;

	text_addf(text, "turn %u\nsequence %u\ncursor %u\ndigest ", a->turn, p->sequence, a->cursor);
	for (size_t i = 0; i < HASH; i++)
		text_addf(text, "%02x", a->digest[i]);
	text_addf(text, "\nrate %u\nclients %u\ninterval %u\nclient %u\n", a->rate, a->clients, a->interval, a->client);
}

static void show_stats(const struct stats_packet *s, struct text *text) {
	text_addf(text, "client %u\nms %u\nlost %u\nduplicate %u\ndropped %u\nrejected %u\nparity %u\n", s->client,
		  s->ms, s->lost, s->duplicate, s->dropped, s->rejected, s->parity);
	text_addf(text, "multicast %lu\nhttp %lu\n", s->multicast_bytes, s->http_bytes);
}

// As the vectors have them.
static void show(const struct packet *p, struct text *text) {
	static const char *const types[] = {"", "data", "need", "announce", "stats"};
	static const char *const flags[] = {"repair", "idle", "alone", "leave"};
	const char *comma = "";

	text_addf(text, "type %s\nflags ", types[p->type]);
	for (unsigned i = 0; i < 4; i++) {
		if (p->flags >> i & 1) {
			text_addf(text, "%s%s", comma, flags[i]);
			comma = ",";
		}
	}
	text_adds(text, p->flags ? "\n" : "-\n");
	if (p->type == PACKET_DATA)
		text_addf(text, "turn %u\nsequence %u\nchunk %u\nblock %u\nsymbol %u\nn %u\npayload %02x %02x\n",
			  p->data.turn, p->sequence, p->data.chunk, p->data.block, p->data.symbol, p->data.symbols,
			  p->data.payload[0], p->data.payload[SYMBOL - 1]);
	else if (p->type == PACKET_NEED)
		show_need(p, text);
	else if (p->type == PACKET_ANNOUNCE)
		show_announce(p, text);
	else
		show_stats(&p->stats, text);
}

// Neither a shorter packet nor, with a key, one with another bit is taken.
static void test_changed(const char *path, const struct vector *v) {
	static struct packet packet;
	unsigned taken = 0;

	for (size_t size = 0; size < v->size; size++) {
		cleanup_free uint8_t *cut = malloc(size + (size == 0));
		memcpy(cut, v->data, size);
		taken += packet_decode(cut, size, &v->session, &packet) == PACKET_TAKEN;
	}
	ok(taken == 0, "%s: cut short", path);
	for (size_t bit = 0; v->session.has_key && bit < 8 * v->size; bit++) {
		v->data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		taken += packet_decode(v->data, v->size, &v->session, &packet) == PACKET_TAKEN;
		v->data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	}
	ok(taken == 0, "%s: another bit", path);
}

static void test_good(const char *path, const struct vector *v) {
	enum packet_refusal refusal;
	static struct packet packet;
	uint8_t again[PACKET_MAX];
	struct text text = {0};

	refusal = packet_decode(v->data, v->size, &v->session, &packet);
	if (!ok(refusal == PACKET_TAKEN, "%s: %s", path, refusal_name(refusal)))
		return;
	show(&packet, &text);
	same(text_string(&text), v->fields, "%s: fields", path);
	ok(packet_encode(&packet, &v->session, again) == v->size && !memcmp(again, v->data, v->size),
	   "%s: encoded again", path);
	text_free(&text);
	test_changed(path, v);
}

static void test_vector(const char *path, bool good) {
	cleanup_free char *text = NULL;
	static struct packet packet;
	struct vector v;

	if (!ok(file_read(path, 65536, &text, NULL) == 0, "%s", path))
		return;
	v = read_vector(text);
	if (good)
		test_good(path, &v);
	else
		same(refusal_name(packet_decode(v.data, v.size, &v.session, &packet)), v.why, "%s", path);
	free(v.data);
}

static void test_vectors(const char *folder, bool good, size_t least) {
	char pattern[512];
	glob_t found = {0};

	snprintf(pattern, sizeof(pattern), "%s/multicast/%s/*", getenv("SLED_CASES"), folder);
	if (glob(pattern, 0, NULL, &found) != 0)
		abort();
	ok(found.gl_pathc >= least, "%zu vectors", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		test_vector(found.gl_pathv[i], good);
	globfree(&found);
}

// Every frame's symbols are in its blocks once, and no block is larger than permitted.
static void test_blocks(void) {
	unsigned wrong = 0;

	for (uint32_t n = 1; n <= SYMBOLS_MAX; n++) {
		uint32_t total = 0;
		for (uint32_t b = 0; b < block_count(n); b++) {
			uint32_t k = block_size(n, b);
			wrong += k == 0 || k > BLOCK_MAX || (k - 1) * block_count(n) + b >= n;
			total += k;
		}
		wrong += total != n || block_count(n) > BLOCKS_MAX;
	}
	ok(wrong == 0, "blocks of every size of a frame");
	ok(frame_symbols(1) == 1 && frame_symbols(SYMBOL) == 1 && frame_symbols(SYMBOL + 1) == 2 &&
		   frame_symbols(FRAME_MAX) == SYMBOLS_MAX && SYMBOLS_MAX == 751 && BLOCKS_MAX == 6,
	   "symbols of a frame");
}

// The reference values of its authors, for the key 00 01 .. 0f and the message 00 01 ..
static void test_siphash(void) {
	uint8_t key[SIPHASH_KEY], message[16];

	for (unsigned i = 0; i < 16; i++)
		key[i] = message[i] = (uint8_t)i;
	ok(siphash(key, message, 0, message, 0) == UINT64_C(0x726fdb47dd0e0e31), "SipHash of nothing");
	ok(siphash(key, message, 8, message + 8, 7) == UINT64_C(0xa129ca6149be45e5), "SipHash of 15 bytes");
}

int main(void) {
	uint8_t short_one[31] = "SLM1";

	test_siphash();
	test_blocks();
	test_vectors("ok", true, 30);
	test_vectors("bad", false, 60);
	ok(!packet_session(short_one, sizeof(short_one)), "no session in 31 bytes");
	return tap_done();
}
