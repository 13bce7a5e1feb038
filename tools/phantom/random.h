/* SPDX-License-Identifier: MIT
 *
 * Random numbers by counting: number i of a stream is a hash of (key of the stream, i), and the key a hash of
 * (seed, purpose, index). Each fiber, voxel and weight has its own stream, so no order of evaluation, and
 * hence no number of threads, changes a number. The hash is the finaliser of SplitMix64 (Steele, Lea and
 * Flood 2014). */
#ifndef TOOLS_PHANTOM_RANDOM_H
#define TOOLS_PHANTOM_RANDOM_H

#include <math.h>
#include <stdint.h>

enum random_purpose {
	RANDOM_TRACTS = 1, RANDOM_CLUSTERS, RANDOM_FIBER, RANDOM_S0, RANDOM_W_TRUE, RANDOM_W, RANDOM_NOISE,
	RANDOM_TREE, RANDOM_SYSTEM, RANDOM_LENGTHS
};

struct random_stream {
	uint64_t key, counter;
};

static inline uint64_t random_hash(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline struct random_stream random_stream_of(int64_t seed, enum random_purpose purpose, int64_t index)
{
	uint64_t key = random_hash((uint64_t) seed + UINT64_C(0x9e3779b97f4a7c15));
	key = random_hash(key + (uint64_t) purpose * UINT64_C(0xd1b54a32d192ed03));
	key = random_hash(key + (uint64_t) index * UINT64_C(0x8cb92ba72f3d8dd7));
	return (struct random_stream) { key, 0 };
}

static inline uint64_t random_bits(struct random_stream *stream)
{
	return random_hash(stream->key + ++stream->counter * UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform in the open interval (0, 1). */
static inline double random_uniform(struct random_stream *stream)
{
	return ((double) (random_bits(stream) >> 12) + 0.5) * 0x1p-52;
}

/* Uniform in 0 .. n-1; n is far below 2^32, so the bias is far below 2^-32. */
static inline int64_t random_below(struct random_stream *stream, int64_t n)
{
	return (int64_t) (random_uniform(stream) * (double) n);
}

/* Standard normal (Box and Muller 1958). */
static inline double random_normal(struct random_stream *stream)
{
	double radius = sqrt(-2 * log(random_uniform(stream)));
	return radius * cos(6.283185307179586 * random_uniform(stream));
}

#endif
