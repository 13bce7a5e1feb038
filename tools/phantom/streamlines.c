/* SPDX-License-Identifier: MIT
 *
 * Streamlines as probabilistic tractography finds them: from a seed both ways along one tract, a fixed step,
 * each step's direction disturbed by noise, until the length is used up or the white matter ends. A
 * streamline is a function of (options, fiber), so streamlines may be traced in any order. */
#include "anatomy.h"

#define LONGEST 250.0      /* mm */
#define LENGTH_SPREAD 0.45 /* standard deviation of the logarithm of the length */
#define SEED_TRIALS 20
#define TRACE_TRIALS 10 /* tractography discards streamlines that end too soon */
#define TOO_SHORT 0.8

int32_t streamline_capacity(const struct life_phantom_options *options)
{
	return 2 * ((int32_t) ceil(LONGEST / options->step) + 1) + 1;
}

static const struct cluster *draw_cluster(const struct white_matter *brain, struct random_stream *random)
{
	double share = random_uniform(random);
	int32_t low = 0, high = brain->n_clusters - 1;
	while (low < high) {
		int32_t middle = (low + high) / 2;
		if (brain->clusters[middle].cumulative < share)
			low = middle + 1;
		else
			high = middle;
	}
	return &brain->clusters[low];
}

/* A normal distribution around the centre, cut off by the surface of the white matter. */
static void draw_in_cluster(const struct white_matter *brain, const struct cluster *cluster,
			    struct random_stream *random, double position[3])
{
	for (int trial = 0; trial < SEED_TRIALS; trial++) {
		for (int i = 0; i < 3; i++)
			position[i] = cluster->centre[i] + cluster->radius * random_normal(random);
		if (white_matter_place(brain, position) >= 0)
			return;
	}
	for (int i = 0; i < 3; i++)
		position[i] = cluster->centre[i];
}

/* The position of a seed, in "cluster" or, if that is NULL, anywhere; the result is its tract. */
static int draw_seed(const struct white_matter *brain, const struct cluster *cluster,
		     struct random_stream *random, double position[3])
{
	if (cluster) {
		draw_in_cluster(brain, cluster, random, position);
		return cluster->tract;
	}
	white_matter_draw(brain, random, position);
	return (int) random_below(random, N_TRACTS);
}

static int32_t draw_steps(const struct life_phantom_options *options, struct random_stream *random)
{
	double length = options->length * exp(LENGTH_SPREAD * random_normal(random));
	return (int32_t) ceil(fmin(length, LONGEST) / options->step);
}

static void step_along(const struct life_phantom_options *options, const double heading[3], double sign,
		       struct random_stream *random, const double from[3], double to[3])
{
	double noise = options->coherence * 0.017453292519943295, disturbed[3], squares = 0;
	for (int i = 0; i < 3; i++) {
		disturbed[i] = sign * heading[i] + noise * random_normal(random);
		squares += disturbed[i] * disturbed[i];
	}
	for (int i = 0; i < 3; i++)
		to[i] = from[i] + options->step / sqrt(squares) * disturbed[i];
}

/* Up to "steps" nodes from "node" on, at every "stride" (1 or -1); returns how many stayed inside. */
static int32_t trace_half(const struct life_phantom_options *options, const struct white_matter *brain,
			  int tract, int32_t steps, int stride, struct random_stream *random,
			  double (*node)[3])
{
	for (int32_t n = 0; n < steps; n++) {
		double heading[3], *from = node[n * stride], *to = node[(n + 1) * stride];
		white_matter_direction(brain, tract, from, heading);
		step_along(options, heading, stride, random, from, to);
		if (white_matter_place(brain, to) < 0)
			return n;
	}
	return steps;
}

/* Both ways from a new seed; what the white matter cuts off one way is added the other way. */
static void trace_once(const struct life_phantom_options *options, const struct white_matter *brain,
		       const struct cluster *cluster, int32_t steps, struct random_stream *random,
		       struct streamline *line)
{
	int32_t middle = streamline_capacity(options) / 2;
	double(*seed)[3] = line->node + middle;
	int tract = draw_seed(brain, cluster, random, *seed);
	int32_t back = (int32_t) random_below(random, steps + 1);
	int32_t before = trace_half(options, brain, tract, back, -1, random, seed);
	int32_t after = trace_half(options, brain, tract, steps - before, 1, random, seed);
	line->first = middle - before;
	line->n = before + 1 + after;
	white_matter_direction(brain, tract, *seed, line->heading);
}

void streamline_trace(const struct life_phantom_options *options, const struct white_matter *brain,
		      int64_t fiber, struct streamline *line)
{
	struct random_stream random = random_stream_of(options->seed, RANDOM_FIBER, fiber);
	bool is_clustered = random_uniform(&random) < options->tail;
	const struct cluster *cluster = is_clustered ? draw_cluster(brain, &random) : NULL;
	int32_t steps = draw_steps(options, &random);
	for (int trial = 0; trial < TRACE_TRIALS; trial++) {
		trace_once(options, brain, cluster, steps, &random, line);
		if (line->n > TOO_SHORT * steps)
			return;
	}
}

void streamline_gradient(const struct streamline *line, int32_t node, double gradient[3])
{
	int32_t last = line->n - 1;
	const double *left = line->node[line->first + (node > 0 ? node - 1 : 0)];
	const double *right = line->node[line->first + (node < last ? node + 1 : last)];
	for (int i = 0; i < 3; i++)
		gradient[i] = last > 0 ? right[i] - left[i] : line->heading[i];
}
