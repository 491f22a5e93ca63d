// SPDX-License-Identifier: Apache-2.0
// tool_receivers SENDER:PORT IMAGE URL COUNT [key=value...]: that many receivers of multicast in one process, for
// benchmarks: one socket hears the group, each packet is given to all that do not lose it, and each receiver has an
// address for its requests. Keys: base (first address), loss (share), seed, starts (milliseconds, joined by ","), bad
// (loss of the first one), slow (bytes per second that the disk of the second one takes), expected (how many there will
// be, as in a plan). Prints a line for each, and ends with 1 if a frame had other bytes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/operand.h"
#include "hosted.h"
#include "net/udp.h"

#define PACKETS 64u
#define RECEIVERS_MAX 256u
#define DEADLINE (300 * SECOND)

static struct hosted receivers[RECEIVERS_MAX];
static struct hosted_world world;
static struct session session;
static uint32_t count;

static void check(int r, const struct fault *fault) {
	if (r >= 0)
		return;
	fault_print(fault, "receivers");
	exit(1);
}

static double number(const struct operands *operands, const char *key) {
	const char *text = operands_get(operands, key);
	return text ? atof(text) : 0;
}

static void open_image(const char *path) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	struct image_trust trust = {0};
	static struct urls urls;
	static struct image image;
	cleanup_with(source_close) struct source *source = NULL;
	struct fault fault;
	char url[4200];

	snprintf(url, sizeof(url), "file://%s", path);
	check(urls_parse(url, &urls, &fault), &fault);
	check(source_open(&urls, "", HOSTED_IDLE, &source, &fault), &fault);
	check(image_open(source, &trust, &image, &fault), &fault);
	world.file = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (world.file == MAP_FAILED)
		exit(1);
	world.index = image.index;
	memcpy(world.digest, image.trailer.digest, HASH);
	memcpy(world.digest_text, image.digest, sizeof(world.digest_text));
	memcpy(session.id, image.trailer.digest, SESSION_ID);
}

static void make_receiver(uint32_t i, const struct operands *operands, int64_t start) {
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct hosted *h = &receivers[i];
	uint64_t seed = (uint64_t)number(operands, "seed") * 1000 + i + 1;

	from.sin_addr.s_addr = htonl(ntohl(inet_addr(operands_get_or(operands, "base", "127.0.0.1"))) + i);
	*h = (struct hosted){.world = &world,
			     .client = ntohl(from.sin_addr.s_addr),
			     .chance = seed * UINT64_C(0x9e3779b97f4a7c15) | 1,
			     .loss = number(operands, "loss"),
			     .start = start};
	if (i == 0 && operands_get(operands, "bad"))
		h->loss = number(operands, "bad");
	if (i == 1)
		h->disk_rate = (uint64_t)number(operands, "slow");
	h->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(h->fd, (const struct sockaddr *)&from, sizeof(from)) < 0 ||
	    connect(h->fd, (const struct sockaddr *)&world.address.sender, sizeof(world.address.sender)) < 0) {
		perror("receivers: an address");
		exit(1);
	}
}

static void make_receivers(const struct operands *operands, int64_t now) {
	const char *starts = operands_get_or(operands, "starts", "");

	for (uint32_t i = 0; i < count; i++) {
		char *end;
		int64_t start = strtoll(starts, &end, 10) * MILLISECOND;
		make_receiver(i, operands, now + start);
		starts = *end ? end + 1 : end;
	}
}

static int join_group(void) {
	struct sockaddr_in group = address_group(world.digest), local = {0};
	socklen_t size = sizeof(local);
	struct fault fault;
	int fd = -1;

	getsockname(receivers[0].fd, (struct sockaddr *)&local, &size);
	check(udp_join(&group, local.sin_addr, &fd, &fault), &fault);
	return fd;
}

static void give_all(const struct packet *packet, int64_t now) {
	for (uint32_t i = 0; i < count; i++) {
		struct hosted *h = &receivers[i];
		if (h->state != HOSTED_RUNS || !h->gather || hosted_loses(h))
			continue;
		if (packet->type == PACKET_DATA)
			gather_data(h->gather, packet->sequence, &packet->data, now);
		else if (packet->type == PACKET_ANNOUNCE)
			gather_announce(h->gather, packet, now);
	}
}

static void receive(int group, int64_t now) {
	static uint8_t buffers[PACKETS][PACKET_MAX + 1];
	static struct udp_packet packets[PACKETS];
	static struct packet packet;
	size_t n = PACKETS;

	for (size_t i = 0; i < PACKETS; i++)
		packets[i].data = buffers[i];
	for (int round = 0; round < 4 && n == PACKETS; round++) {
		n = udp_receive(group, packets, PACKETS, PACKET_MAX + 1);
		for (size_t i = 0; i < n; i++)
			if (packet_decode(packets[i].data, packets[i].size, &session, &packet) == PACKET_TAKEN)
				give_all(&packet, now);
	}
}

static void hear(struct hosted *h, int64_t now) {
	uint8_t bytes[PACKET_MAX + 1];
	static struct packet packet;
	ssize_t size = recv(h->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (size <= 0 || packet_decode(bytes, (size_t)size, &session, &packet) != PACKET_TAKEN ||
	    packet.type != PACKET_ANNOUNCE || !h->gather)
		return;
	gather_announce(h->gather, &packet, now);
	if (packet.flags & FLAG_LEAVE)
		hosted_leave(h, "refused");
}

static void run_one(struct hosted *h, int64_t now) {
	static struct packet need;
	uint8_t bytes[PACKET_MAX];

	if (!h->gather)
		hosted_open(h, now);
	hosted_take(h, now);
	if (h->gather->left == 0 && !h->held) {
		hosted_close(h);
		h->ended = now;
		h->state = HOSTED_DONE;
	} else if (h->gather->verdict != GATHER_STAYS) {
		hosted_leave(h, h->gather->verdict == GATHER_LOSES ? "loses" : "slow");
	} else if (gather_need(h->gather, now, &need)) {
		h->needs++;
		(void)send(h->fd, bytes, packet_encode(&need, &session, bytes), MSG_DONTWAIT);
	}
}

// Returns when it is to be called again; 0: it is done.
static int64_t step(struct hosted *h, int64_t now) {
	if (h->state == HOSTED_WAITS && now >= h->start)
		hosted_start_thread(h, HOSTED_OPENS);
	if (h->state == HOSTED_RUNS)
		run_one(h, now);
	if (h->state == HOSTED_DONE && h->ended == 0)
		h->ended = h->opened;
	if (h->state == HOSTED_DONE)
		return 0;
	if (h->state == HOSTED_RUNS && h->gather && !h->held)
		return h->gather->next_need;
	return now + 5 * MILLISECOND;
}

static void run_all(int group) {
	static struct pollfd wait[RECEIVERS_MAX + 1];
	int64_t begin = clock_now(), next = begin;
	bool is_over = false;

	wait[count] = (struct pollfd){.fd = group, .events = POLLIN};
	while (!is_over && clock_now() - begin < DEADLINE) {
		int64_t now;
		for (uint32_t i = 0; i < count; i++)
			wait[i] = (struct pollfd){.fd = receivers[i].fd, .events = POLLIN};
		(void)poll(wait, count + 1, clock_poll_timeout(next));
		now = clock_now();
		receive(group, now);
		next = now + SECOND;
		is_over = true;
		for (uint32_t i = 0; i < count; i++) {
			int64_t at;
			if (wait[i].revents)
				hear(&receivers[i], now);
			at = step(&receivers[i], now);
			is_over = is_over && at == 0;
			next = at > 0 && at < next ? at : next;
		}
	}
}

static bool report(void) {
	struct rusage used;
	bool is_good = world.wrong == 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct hosted *h = &receivers[i];
		is_good &= h->state == HOSTED_DONE;
		printf("receiver seconds=%.4f joined=%.4f multicast=%llu http=%llu received=%llu lost=%llu "
		       "duplicate=%llu dropped=%llu needs=%u why=%s\n",
		       (double)(h->ended - h->start) / (double)SECOND, (double)(h->joined - h->start) / (double)SECOND,
		       (unsigned long long)h->multicast, (unsigned long long)h->http,
		       (unsigned long long)h->counts.received, (unsigned long long)h->counts.lost,
		       (unsigned long long)h->counts.duplicate, (unsigned long long)h->counts.dropped, h->needs,
		       h->why ? h->why : "-");
	}
	getrusage(RUSAGE_SELF, &used);
	printf("total wrong=%u cpu=%.3f\n", world.wrong,
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	return is_good;
}

int main(int words, char **word) {
	cleanup_with(operands_free) struct operands operands = {0};
	struct fault fault;

	if (words < 5 || (count = (uint32_t)atoi(word[4])) == 0 || count > RECEIVERS_MAX)
		return CODE_USAGE;
	for (int i = 5; i < words; i++)
		check(operands_add(&operands, word[i], strlen(word[i]), &fault), &fault);
	check(address_parse(word[1], &world.address, &fault), &fault);
	open_image(word[2]);
	world.urls = word[3];
	world.expected = (uint16_t)number(&operands, "expected");
	make_receivers(&operands, clock_now());
	run_all(join_group());
	return report() ? 0 : 1;
}
