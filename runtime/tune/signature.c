/* SPDX-License-Identifier: MIT
 *
 * The signature of a problem: what the fastest candidate may depend on, as one line. The pipeline and its candidates,
 * the processor and the threads, each size to three significant bits, and of each fixed index array how its values are
 * spread: the share of the range that occurs, the most frequent value against the mean, and how often neighbours are
 * equal, each in powers of two; and which arguments lie in blocks of how many. Two problems of one signature are taken
 * to be alike. */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

struct line {
	char *text;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format, ...)
{
	size_t room = line->length < line->size ? line->size - line->length : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? line->text + line->length : NULL, room, format, args);
	va_end(args);
	line->length += n > 0 ? (size_t) n : 0;
}

/* The value without all but its three highest bits. */
static long long rounded(int64_t value)
{
	int shift = 0;

	while (value >> shift >= 8)
		shift++;
	return (long long) (value >> shift << shift);
}

/* ---- The processor ---- */

/* Its name as it gives it, blanks made underscores; 49 bytes. */
static void processor_name(char *name)
{
#if defined __x86_64__
	unsigned int words[12], most;

	strcpy(name, "x86-64");
	most = (unsigned int) __get_cpuid_max(0x80000000u, NULL);
	if (most < 0x80000004u)
		return;
	for (unsigned int i = 0; i < 3; i++)
		__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
	memcpy(name, words, sizeof words);
	name[sizeof words] = '\0';
	for (char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '_';
#else
	strcpy(name, "processor");
#endif
}

/* ---- Index arrays ---- */

enum { SPARSEST = 64 }; /* values of the range for each element */

struct spread {
	int64_t used, most, equal;      /* values that occur; of the most frequent one; neighbours that are equal */
	int64_t last;
};

static void spread_count(struct spread *spread, const int64_t *values, int64_t n, int32_t *counts, int64_t limit)
{
	for (int64_t i = 0; i < n; i++) {
		const int64_t value = values[i];

		spread->equal += value == spread->last;
		spread->last = value;
		if (value < 0 || value >= limit)
			continue;
		spread->used += counts[value]++ == 0;
		spread->most = counts[value] > spread->most ? counts[value] : spread->most;
	}
}

static struct spread spread_of(const pmg_buffer *buffer, int32_t *counts, int64_t limit)
{
	const struct elements from = elements_of(buffer);
	struct spread spread = { 0, 0, 0, -1 };
	int64_t values[BLOCK];

	for (int64_t first = 0; first < buffer->shape[0]; first += BLOCK) {
		const int64_t n = block_size(first, buffer->shape[0]);

		elements_read(&from, first, n, values);
		spread_count(&spread, values, n, counts, limit);
	}
	return spread;
}

static int log2_of(double ratio)
{
	int exponent = 0;

	while (ratio >= 2 && exponent < 60) {
		ratio /= 2;
		exponent++;
	}
	return exponent;
}

/* False: no memory. */
static bool spread_add(struct line *line, pmg_context *context, const pmg_array_desc *array, const pmg_buffer *buffer,
		       int64_t limit)
{
	const double n = (double) buffer->shape[0];
	const size_t bytes = (size_t) limit * sizeof(int32_t);
	int32_t *counts = context_allocate(context, bytes);
	struct spread spread;

	if (!counts)
		return false;
	memset(counts, 0, bytes);
	spread = spread_of(buffer, counts, limit);
	context_release(context, counts, bytes);
	if (spread.used > 0)
		line_add(line, " %s:%d/%d/%d", array->name, log2_of((double) limit / (double) spread.used),
			 log2_of((double) spread.most * (double) spread.used / n),
			 log2_of(n / (n - (double) spread.equal)));
	return true;
}

/* Not of a range that is far larger than the data: the sizes tell that already, and counting takes memory of it. */
static bool has_spread(const pmg_array_desc *array, const pmg_buffer *buffer, int64_t limit)
{
	const int64_t n = buffer->shape[0];

	return array->is_fixed && (array->facts & PMG_FACT_INDEX) != 0 && array->rank == 1 && limit > 0 && n > 0 &&
	       n <= INT32_MAX && limit <= SPARSEST * (n + BLOCK);
}

/* ---- The line ---- */

static uint32_t hash_add(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * 16777619u;
	return hash;
}

/* Of the arguments and the candidates. */
static uint32_t pipeline_hash(const pmg_pipeline_desc *desc)
{
	uint32_t hash = 2166136261u;

	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (!array_is_internal(&desc->arrays[i]))
			hash = hash_add(hash_add(hash, desc->arrays[i].name), pmg_type_name(desc->arrays[i].type));
	for (int32_t i = 1; i < desc->n_candidates; i++)
		hash = hash_add(hash, desc->candidates[i]->choice);
	return hash;
}

static void params_add(struct line *line, const pmg_pipeline_desc *desc, const void *args)
{
	for (int32_t i = 0; i < desc->n_params; i++)
		if (desc->params[i].type == PMG_I64)
			line_add(line, " %s=%lld", desc->params[i].name,
				 rounded(param_integer(&desc->params[i], args)));
}

static void blocks_add(struct line *line, const pmg_pipeline_desc *desc, const void *args, const pmg_options *options)
{
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		const pmg_buffer *blocks = argument_in_blocks(array, args);

		if (blocks)
			line_add(line, " %s:x%lld", array->name, (long long) blocks->shape[array->rank]);
	}
	if (options->in_blocks)
		line_add(line, " blocks");
}

static pmg_status arrays_add(struct line *line, const pmg_pipeline_desc *desc, const void *args,
			     const pmg_options *options, const int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		const pmg_buffer *buffer = array_is_internal(array) ? NULL : array_argument(array, args);
		const int64_t limit = array_has_limit(array) ? extents[array->first_extent + array->rank] : 0;
		pmg_status status;

		if (!buffer || !has_spread(array, buffer, limit))
			continue;
		status = argument_check(options->context, desc, i, args, extents);
		if (status != PMG_OK)
			return status;
		if (!spread_add(line, options->context, array, buffer, limit))
			return pmg_fail(options->context, PMG_NO_RESOURCES,
					"no memory for the signature of pipeline '%s'", desc->name);
	}
	return PMG_OK;
}

pmg_status pmg_signature(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options, char *text,
			 size_t size)
{
	struct line line = { text, size, 0 };
	int64_t extents[PMG_MAX_EXTENTS];
	char processor[64] = "";
	pmg_status status;

	if (!options || !options->context || !text || size == 0)
		return PMG_BAD_CALL;
	text[0] = '\0';
	status = call_check(desc, args, options);
	if (status == PMG_OK)
		status = sizes_check(options->context, desc, args, options->threads, extents);
	if (status != PMG_OK)
		return status;
	processor_name(processor);
	line_add(&line, "%s %08x %s threads=%d", desc->name, (unsigned) pipeline_hash(desc), processor,
		 (int) threads_of(options->threads));
	params_add(&line, desc, args);
	blocks_add(&line, desc, args, options);
	status = arrays_add(&line, desc, args, options, extents);
	if (status == PMG_OK && line.length >= size)
		status = pmg_fail(options->context, PMG_NO_RESOURCES, "the signature of pipeline '%s' takes %lld bytes",
				  desc->name, (long long) line.length + 1);
	return status;
}
