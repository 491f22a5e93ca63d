// SPDX-License-Identifier: Apache-2.0
#include "multicast/kernels.h"

static uint8_t product(const struct gf256_products *products, uint8_t byte) {
	return products->low[byte & 15] ^ products->high[byte >> 4];
}

static void plain_add(const struct gf256_products *products, uint8_t *to, const uint8_t *from, size_t size) {
	for (size_t i = 0; i < size; i++)
		to[i] ^= product(products, from[i]);
}

static void plain_set(const struct gf256_products *products, uint8_t *to, const uint8_t *from, size_t size) {
	for (size_t i = 0; i < size; i++)
		to[i] = product(products, from[i]);
}

// add and set for a SIMD unit: `type` holds `width` bytes, `load` and `save` move them, `look` returns the products of
// them, `mix` is their exclusive or. The rest of a symbol, less than `width` bytes, is left to plain C.
#define KERNEL(name, attribute, type, width, tables, load, save, look, mix)                                       \
	attribute static void name##_add(const struct gf256_products *products, uint8_t *to, const uint8_t *from, \
					 size_t size) {                                                           \
		size_t i = 0;                                                                                     \
		tables(products);                                                                                 \
		for (; i + (width) <= size; i += (width)) {                                                       \
			type x = load(from + i);                                                                  \
			save(to + i, mix(load(to + i), look(x)));                                                 \
		}                                                                                                 \
		plain_add(products, to + i, from + i, size - i);                                                  \
	}                                                                                                         \
	attribute static void name##_set(const struct gf256_products *products, uint8_t *to, const uint8_t *from, \
					 size_t size) {                                                           \
		size_t i = 0;                                                                                     \
		tables(products);                                                                                 \
		for (; i + (width) <= size; i += (width)) {                                                       \
			type x = load(from + i);                                                                  \
			save(to + i, look(x));                                                                    \
		}                                                                                                 \
		plain_set(products, to + i, from + i, size - i);                                                  \
	}

#if defined(__x86_64__)
#include <immintrin.h>

#define LOAD16(p) _mm_loadu_si128((const void *)(p))
#define SAVE16(p, x) _mm_storeu_si128((void *)(p), (x))
#define TABLES16(t) __m128i low = LOAD16((t)->low), high = LOAD16((t)->high), mask = _mm_set1_epi8(15)
#define LOOK16(x)                                                      \
	_mm_xor_si128(_mm_shuffle_epi8(low, _mm_and_si128((x), mask)), \
		      _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi64((x), 4), mask)))
KERNEL(ssse3, __attribute__((target("ssse3"))), __m128i, 16, TABLES16, LOAD16, SAVE16, LOOK16, _mm_xor_si128)

#define LOAD32(p) _mm256_loadu_si256((const void *)(p))
#define SAVE32(p, x) _mm256_storeu_si256((void *)(p), (x))
#define TABLES32(t)                                                  \
	__m256i low = _mm256_broadcastsi128_si256(LOAD16((t)->low)), \
		high = _mm256_broadcastsi128_si256(LOAD16((t)->high)), mask = _mm256_set1_epi8(15)
#define LOOK32(x)                                                               \
	_mm256_xor_si256(_mm256_shuffle_epi8(low, _mm256_and_si256((x), mask)), \
			 _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi64((x), 4), mask)))
KERNEL(avx2, __attribute__((target("avx2"))), __m256i, 32, TABLES32, LOAD32, SAVE32, LOOK32, _mm256_xor_si256)

#elif defined(__aarch64__)
#include <arm_neon.h>

#define TABLES_NEON(t) uint8x16_t low = vld1q_u8((t)->low), high = vld1q_u8((t)->high), mask = vdupq_n_u8(15)
#define LOOK_NEON(x) veorq_u8(vqtbl1q_u8(low, vandq_u8((x), mask)), vqtbl1q_u8(high, vshrq_n_u8((x), 4)))
KERNEL(neon, , uint8x16_t, 16, TABLES_NEON, vld1q_u8, vst1q_u8, LOOK_NEON, veorq_u8)
#endif

size_t kernels_fill(struct gf256_kernel *ret) {
	size_t count = 0;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		ret[count++] = (struct gf256_kernel){"avx2", avx2_add, avx2_set};
	if (__builtin_cpu_supports("ssse3"))
		ret[count++] = (struct gf256_kernel){"ssse3", ssse3_add, ssse3_set};
#elif defined(__aarch64__)
	ret[count++] = (struct gf256_kernel){"neon", neon_add, neon_set};
#endif
	ret[count++] = (struct gf256_kernel){"plain", plain_add, plain_set};
	return count;
}
