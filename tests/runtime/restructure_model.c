/* SPDX-License-Identifier: MIT
 *
 * See restructure.h. The model sorts rows of keys and point numbers by qsort and reads everything off by definition. */
#include "runtime/restructure.h"

#include <stdlib.h>
#include <string.h>

/* ---- The pipeline ---- */

static const pmg_extent points_shape[2] = { { .param = -1, .is_general = true, .text = "n" },
	{ .param = -1, .is_general = true, .text = "3" } };

static void points_extents(const void *args, int64_t *values)
{
	const points_args *a = args;

	for (int k = 0; k < MAX_KEYS; k++) {
		values[2 * k] = a->n;
		values[2 * k + 1] = a->limits[k];
	}
	values[6] = a->n;
	values[7] = a->limits[0];
	values[8] = N_AXES;
	values[9] = a->row[0];
	values[10] = a->row[1];
}

static pmg_status points_kernel(pmg_plan *plan, const void *args, pmg_control *control)
{
	(void) plan;
	(void) args;
	(void) control;
	return PMG_OK;
}

static void array_add(struct points *points, enum points_array which, pmg_array_desc array)
{
	array.segments = -1;
	array.place = "points.pmg:1";
	array.shape = points_shape;
	points->numbers[which] = points->desc.n_arrays;
	points->arrays[points->desc.n_arrays++] = array;
}

static void arrays_of_caller(struct points *points)
{
	static const char *const names[] = { "key0", "key1", "key2", "number" };
	const bool only = points->choice.is_for_inspection;

	for (int k = 0; k < MAX_KEYS; k++)
		array_add(points, (enum points_array) (POINTS_KEY + k), (pmg_array_desc) {
			.name = names[k], .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true,
			.rank = 1, .first_extent = 2 * k, .facts = PMG_FACT_INDEX, .is_for_inspection = only,
			.limit = { .param = -1, .is_general = true, .text = "limit" },
			.offset = offsetof(points_args, keys) + (size_t) k * sizeof(pmg_buffer)
		});
	array_add(points, POINTS_NUMBER, (pmg_array_desc) {
		.name = names[3], .role = PMG_IN, .type = PMG_I64, .is_fixed = true, .is_index = true, .rank = 1,
		.first_extent = 6, .is_for_inspection = only, .offset = offsetof(points_args, number)
	});
#define PLAIN(which, words, id, member, at, dims) \
	array_add(points, which, (pmg_array_desc) { .name = words, .role = PMG_IN, .type = id, .is_fixed = true, \
		.rank = dims, .first_extent = at, .is_for_inspection = only, \
		.offset = offsetof(points_args, member) })
	PLAIN(POINTS_WEIGHT, "weight", PMG_F64, weight, 6, 1);
	PLAIN(POINTS_RATIO, "ratio", PMG_F32, ratio, 6, 1);
	PLAIN(POINTS_FLAG, "flag", PMG_BOOL, flag, 6, 1);
	PLAIN(POINTS_PLACE, "place", PMG_I32, place, 7, 2);
	points->arrays[points->numbers[POINTS_PLACE]].is_optional = true;
#undef PLAIN
	array_add(points, POINTS_LIVE, (pmg_array_desc) {
		.name = "live", .role = PMG_IN, .type = PMG_F64, .rank = 1, .first_extent = 5,
		.offset = offsetof(points_args, live)
	});
}

static int32_t inspected_add(struct points *points, int which, const char *name, pmg_type type)
{
	array_add(points, (enum points_array) which,
		  (pmg_array_desc) { .name = name, .role = PMG_INSPECTED, .type = type, .offset = SIZE_MAX });
	return points->numbers[which];
}

static void copy_add(struct points *points, int from, int which, const char *name, pmg_type type, bool is_per_run)
{
	points->copies[points->restructure.n_copies++] = (pmg_copy_desc) {
		.from = from < 0 ? -1 : points->numbers[from], .to = inspected_add(points, which, name, type),
		.is_per_run = is_per_run
	};
}

/* The limit of key k becomes that of the array. */
static void array_narrow(struct points *points, int32_t number, int k)
{
	points->arrays[number].storage = PMG_AS_NARROW;
	points->arrays[number].first_extent = 2 * k + 1;
	points->arrays[number].limit = points->arrays[points->numbers[POINTS_KEY + k]].limit;
}

static void copies_add(struct points *points)
{
	static const char *const names[] = { "keys0", "keys1", "keys2" }, *const of_runs[] = { "run0", "run1", "run2" };
	const struct points_choice *choice = &points->choice;

	copy_add(points, POINTS_WEIGHT, POINTS_WEIGHTS, "weights", PMG_F64, false);
	copy_add(points, -1, POINTS_ORDER, "order", choice->offsets, false);
	for (int k = 0; k < MAX_KEYS; k++) {
		copy_add(points, POINTS_KEY + k, POINTS_KEYS + k, names[k], choice->copies, false);
		if (choice->has_runs)
			copy_add(points, POINTS_KEY + k, POINTS_RUN_KEYS + k, of_runs[k], choice->copies, true);
		if (choice->has_runs && choice->is_narrow)
			array_narrow(points, points->numbers[POINTS_RUN_KEYS + k], k);
	}
	copy_add(points, POINTS_NUMBER, POINTS_NUMBERS, "numbers", choice->copies, false);
	copy_add(points, POINTS_RATIO, POINTS_RATIOS, "ratios", PMG_F32, false);
	copy_add(points, POINTS_FLAG, POINTS_FLAGS, "flags", PMG_BOOL, false);
	if (choice->has_runs)
		copy_add(points, POINTS_WEIGHT, POINTS_RUN_WEIGHTS, "run weights", PMG_F64, true);
}

static void array_premultiply(struct points *points, int which)
{
	points->arrays[points->numbers[which]].n_factors = 2;
	points->arrays[points->numbers[which]].first_factor = 9;
}

static void arrays_premultiply(struct points *points)
{
	array_premultiply(points, POINTS_KEYS + 1);
	if (points->choice.has_runs)
		array_premultiply(points, POINTS_RUN_KEYS + 1);
	if (points->choice.has_places)
		array_premultiply(points, POINTS_VALUES);
	if (points->choice.is_renumbered)
		array_premultiply(points, POINTS_RENUMBERED);
}

static void restructuring_set(struct points *points)
{
	const struct points_choice *choice = &points->choice;
	pmg_restructure_desc *r = &points->restructure;

	*r = (pmg_restructure_desc) {
		.name = "points", .n_keys = choice->n_keys, .keys = points->keys, .runs = -1, .chunks = -1,
		.is_by_threads = choice->is_by_threads, .n_runs = POINTS_N_RUNS, .n_chunks = POINTS_N_CHUNKS,
		.copies = points->copies, .renumberings = &points->renumbering
	};
	for (int k = 0; k < choice->n_keys; k++)
		points->keys[k] = points->numbers[POINTS_KEY + k];
	r->segments = inspected_add(points, POINTS_SEGMENTS, "segments", choice->offsets);
	if (choice->has_runs)
		r->runs = inspected_add(points, POINTS_RUNS, "runs", choice->offsets);
	r->chunks = inspected_add(points, POINTS_CHUNKS, "chunks", choice->offsets);
	copies_add(points);
	if (choice->is_renumbered) {
		points->renumbering.mode = points->numbers[POINTS_KEY + 2];
		points->renumbering.order = inspected_add(points, POINTS_RENUMBERED, "renumbered", PMG_I32);
		r->n_renumberings = 1;
	}
	if (choice->has_parts) {
		points->parts = (pmg_parts_desc) {
			inspected_add(points, POINTS_PART_VALUES, "part values", PMG_I32),
			inspected_add(points, POINTS_PART_BEGINS, "part begins", PMG_I32),
			inspected_add(points, POINTS_PART_ENDS, "part ends", PMG_I32), POINTS_N_PARTS,
			points->numbers[POINTS_KEYS + 2]
		};
		r->parts = &points->parts;
	}
	if (choice->has_places) {
		points->places.coordinates = points->numbers[POINTS_PLACE];
		points->places.values = inspected_add(points, POINTS_VALUES, "values", PMG_I32);
		r->places = &points->places;
	}
	if (choice->row[0] > 0)
		arrays_premultiply(points);
}

/* ---- Data ---- */

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Values of type i32 or i64, the latter with a stride of two elements. */
static pmg_buffer integers(struct points *points, int at, pmg_type type, const int64_t *values, int64_t n)
{
	char *memory = calloc((size_t) n + 1, 16);
	const int64_t stride = type == PMG_I32 ? 4 : 16;
	pmg_buffer buffer = pmg_dense(memory, type, 1, &n);

	points->memory[at] = memory;
	for (int64_t i = 0; i < n; i++) {
		const int32_t narrow = (int32_t) values[i];

		memcpy(memory + i * stride, type == PMG_I32 ? (const void *) &narrow : &values[i],
		       type == PMG_I32 ? 4 : 8);
	}
	buffer.strides[0] = stride;
	return buffer;
}

/* Small keys are frequent, so that runs and segments have very different lengths. */
static void keys_fill(struct points *points)
{
	const int64_t n = points->choice.n;
	uint64_t state = points->choice.seed + 1u;

	for (int k = 0; k <= MAX_KEYS; k++) {
		points->values[k] = calloc((size_t) n + 1, sizeof(int64_t));
		for (int64_t i = 0; i < n; i++) {
			const uint64_t limit = k < MAX_KEYS ? (uint64_t) points->args.limits[k] : 100;
			const uint64_t most = random_next(&state) % limit + 1;

			points->values[k][i] = (int64_t) (random_next(&state) % most);
		}
	}
}

static void arguments_fill(struct points *points)
{
	const struct points_choice *choice = &points->choice;
	points_args *a = &points->args;
	const int64_t n = choice->n, place[] = { a->limits[0], N_AXES };
	double *weight = calloc((size_t) n + 1, sizeof *weight);
	float *ratio = calloc((size_t) n + 1, sizeof *ratio);
	bool *flag = calloc((size_t) n + 1, sizeof *flag);
	int32_t *at = calloc((size_t) place[0] * N_AXES + 1, sizeof *at);

	for (int k = 0; k < MAX_KEYS; k++)
		a->keys[k] = integers(points, k, choice->given, points->values[k], n);
	a->number = integers(points, MAX_KEYS, choice->given, points->values[MAX_KEYS], n);
	for (int64_t i = 0; i < n; i++) {
		weight[i] = (double) i / 3;
		ratio[i] = (float) i / 7;
		flag[i] = i % 3 == 1;
	}
	for (int64_t i = 0; i < place[0] * N_AXES && !choice->is_left_out; i++)
		at[i] = (int32_t) ((i * 7919) % 23) - 11;
	a->weight = pmg_dense(points->memory[MAX_KEYS + 1] = weight, PMG_F64, 1, &n);
	a->ratio = pmg_dense(points->memory[MAX_KEYS + 2] = ratio, PMG_F32, 1, &n);
	a->flag = pmg_dense(points->memory[MAX_KEYS + 3] = flag, PMG_BOOL, 1, &n);
	points->memory[MAX_KEYS + 5] = calloc((size_t) a->limits[2] + 1, sizeof(double));
	a->live = pmg_dense(points->memory[MAX_KEYS + 5], PMG_F64, 1, &a->limits[2]);
	points->memory[MAX_KEYS + 4] = at;
	if (!choice->is_left_out)
		a->place = pmg_dense(at, PMG_I32, 2, place);
}

void points_make(struct points *points, const struct points_choice *choice)
{
	*points = (struct points) { .choice = *choice, .args.n = choice->n };
	points->args.row[0] = choice->row[0];
	points->args.row[1] = choice->row[1];
	for (int k = 0; k < MAX_KEYS; k++)
		points->args.limits[k] = choice->limits[k];
	for (int i = 0; i < POINTS_ARRAYS; i++)
		points->numbers[i] = -1;
	arrays_of_caller(points);
	restructuring_set(points);
	points->desc = (pmg_pipeline_desc) {
		.abi_version = PMG_ABI_VERSION, .name = "points", .source = "points.pmg",
		.args_size = sizeof(points_args), .n_arrays = points->desc.n_arrays, .n_extents = 11,
		.arrays = points->arrays, .n_restructurings = 1, .n_sizes = POINTS_N_SIZES,
		.restructurings = &points->restructure, .extents = points_extents, .kernel = points_kernel
	};
	keys_fill(points);
	arguments_fill(points);
}

void points_free(struct points *points)
{
	for (int k = 0; k <= MAX_KEYS; k++)
		free(points->values[k]);
	for (size_t i = 0; i < sizeof points->memory / sizeof points->memory[0]; i++)
		free(points->memory[i]);
}

/* ---- The model ---- */

struct row {
	int64_t keys[MAX_KEYS], point;
	int64_t window, length;         /* of its run: windows are numbered in sorted order */
};

enum { WINDOW = 1024 };                 /* points in which the runs of a window begin; longer ones count as such */

struct model {
	const struct points *points;
	const pmg_plan *plan;
	struct row *rows;
	int64_t *segments, *runs, *values, *rank;       /* in points; values[segment], rank[value] */
	int64_t n, n_runs;
};

static int row_compare(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	for (int k = 0; k < MAX_KEYS; k++)
		if (a->keys[k] != b->keys[k])
			return a->keys[k] < b->keys[k] ? -1 : 1;
	return a->point < b->point ? -1 : 1;
}

static int row_compare_lengths(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	if (a->window != b->window)
		return a->window < b->window ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return row_compare(a, b);
}

static bool is_new_run(const struct row *rows, int64_t i)
{
	return i == 0 || memcmp(rows[i].keys, rows[i - 1].keys, sizeof rows->keys) != 0;
}

/* Runs of a segment in the order of their lengths, a window at a time. `rows` are sorted by keys. */
static void rows_by_length(struct row *rows, int64_t n)
{
	int64_t start = 0, window = 0, end;

	for (int64_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !is_new_run(rows, end);)
			end++;
		if (i > 0 && (rows[i].keys[0] != rows[i - 1].keys[0] || i - start >= WINDOW)) {
			start = i;
			window++;
		}
		for (int64_t k = i; k < end; k++) {
			rows[k].window = window;
			rows[k].length = end - i < WINDOW ? end - i : WINDOW;
		}
	}
	qsort(rows, (size_t) n, sizeof *rows, row_compare_lengths);
}

static int64_t factor_of(const struct model *model, int32_t number)
{
	return model->points->arrays[number].n_factors ? model->points->choice.row[0]*model->points->choice.row[1] : 1;
}

static int64_t kept_at(const struct model *model, int which, int64_t i)
{
	const int32_t number = model->points->numbers[which];
	const void *data = model->plan->data[number];

	if (model->points->arrays[number].storage == PMG_AS_NARROW)
		return pmg_index_at(data, factor_of(model, number)*
				    model->points->args.limits[which - POINTS_RUN_KEYS], i);
	switch (model->points->arrays[number].type) {
	case PMG_U8:
		return ((const uint8_t *) data)[i];
	case PMG_U16:
		return ((const uint16_t *) data)[i];
	case PMG_I32:
		return ((const int32_t *) data)[i];
	case PMG_I64:
		return ((const int64_t *) data)[i];
	case PMG_F32: case PMG_F64: case PMG_I8: case PMG_I16: case PMG_U32: case PMG_BOOL:
		break;
	}
	return -1;
}

static int64_t value_at(const struct model *model, int which, int64_t i)
{
	const int64_t kept = kept_at(model, which, i), factor = factor_of(model, model->points->numbers[which]);

	return kept % factor == 0 ? kept / factor : -1;
}

/* Digits in base 2 of the three coordinates, the most significant first, as a number. */
static int64_t place_code(const int32_t *at)
{
	int64_t code = 0;

	for (int bit = 4; bit >= 0; bit--)
		for (int d = 0; d < N_AXES; d++)
			code = 2 * code + ((at[d] + 11) >> bit & 1);
	return code;
}

static void model_places(struct model *model)
{
	const struct points_choice *choice = &model->points->choice;
	const int64_t n = choice->limits[0];
	const int32_t *at = model->points->memory[MAX_KEYS + 4];
	struct row *rows = calloc((size_t) n + 1, sizeof *rows);

	for (int64_t v = 0; v < n; v++) {
		rows[v].keys[0] = choice->has_places ? place_code(at + v * N_AXES) : v;
		rows[v].point = v;
	}
	qsort(rows, (size_t) n, sizeof *rows, row_compare);
	for (int64_t s = 0; s < n; s++) {
		model->values[s] = rows[s].point;
		model->rank[rows[s].point] = s;
	}
	free(rows);
}

static void model_order(struct model *model)
{
	const struct points *points = model->points;
	struct row *rows = model->rows;

	for (int64_t i = 0; i < points->choice.n; i++) {
		rows[i].point = i;
		for (int k = 0; k < points->choice.n_keys; k++)
			rows[i].keys[k] = k > 0 ? points->values[k][i] : model->rank[points->values[0][i]];
	}
	qsort(rows, (size_t) points->choice.n, sizeof *rows, row_compare);
	if (points->choice.has_runs)
		rows_by_length(rows, points->choice.n);
	for (int64_t i = 0; i < points->choice.n; i++) {
		rows[model->n] = rows[i];
		model->n += !points->live || points->live[points->values[MAX_KEYS - 1][rows[i].point]] != 0;
	}
}

static void model_borders(struct model *model)
{
	int64_t segment = -1;

	for (int64_t i = 0; i < model->n; i++) {
		while (segment < model->rows[i].keys[0])
			model->segments[++segment] = i;
		if (is_new_run(model->rows, i))
			model->runs[model->n_runs++] = i;
	}
	while (segment < model->points->choice.limits[0])
		model->segments[++segment] = model->n;
	model->runs[model->n_runs] = model->n;
}

static void *new_values(int64_t n, size_t size)
{
	return calloc((size_t) n + 2, size);
}

static struct model model_of(const struct points *points, const pmg_plan *plan)
{
	const int64_t n = points->choice.n, n_values = points->choice.limits[0];
	struct model model = {
		.points = points, .plan = plan, .rows = new_values(n, sizeof *model.rows),
		.segments = new_values(n_values, 8), .runs = new_values(n, 8), .values = new_values(n_values, 8),
		.rank = new_values(n_values, 8)
	};

	model_places(&model);
	model_order(&model);
	model_borders(&model);
	return model;
}

static void model_free(const struct model *model)
{
	free(model->rows);
	free(model->segments);
	free(model->runs);
	free(model->values);
	free(model->rank);
}

/* ---- Comparison ---- */

static bool segments_are_right(const struct model *model)
{
	const struct points_choice *choice = &model->points->choice;
	bool ok = true;

	for (int64_t s = 0; s <= choice->limits[0]; s++) {
		const int64_t at = value_at(model, POINTS_SEGMENTS, s);

		ok = ok && (choice->has_runs ? model->runs[at] : at) == model->segments[s];
		ok = ok && (!choice->has_places || s == choice->limits[0]
			    || value_at(model, POINTS_VALUES, s) == model->values[s]);
	}
	for (int64_t r = 0; choice->has_runs && r <= model->n_runs; r++)
		ok = ok && value_at(model, POINTS_RUNS, r) == model->runs[r];
	if (model->points->live && !choice->has_runs)
		return ok;
	return ok && model->plan->sizes[POINTS_N_RUNS] == model->n_runs;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

static bool chunks_are_right(const struct model *model, int threads)
{
	const int64_t n = model->n, n_segments = model->points->choice.limits[0];
	const int64_t by_size = n <= 2048 ? 1 : n > 256 * 2048 ? 256 : (n + 2047) / 2048;
	const int64_t n_chunks = model->points->choice.is_by_threads ? threads : by_size;

	for (int64_t c = 0; c < n_chunks; c++) {
		int64_t best = 0;

		for (int64_t s = 0; s <= n_segments; s++)
			if (distance(model->segments[s], c * n / n_chunks)
			    < distance(model->segments[best], c * n / n_chunks))
				best = s;
		if (value_at(model, POINTS_CHUNKS, c) != best)
			return false;
	}
	return model->plan->sizes[POINTS_N_CHUNKS] == n_chunks
		&& value_at(model, POINTS_CHUNKS, n_chunks) == n_segments;
}

/* The old number behind a copied value of key number 2, if those are renumbered. */
static int64_t old_value(const struct model *model, int key, int64_t value)
{
	return key == 2 && model->points->choice.is_renumbered ? value_at(model, POINTS_RENUMBERED, value) : value;
}

static bool copies_are_right(const struct model *model)
{
	const struct points *points = model->points;
	const double *weights = model->plan->data[points->numbers[POINTS_WEIGHTS]];
	const float *ratios = model->plan->data[points->numbers[POINTS_RATIOS]];
	const bool *flags = model->plan->data[points->numbers[POINTS_FLAGS]];
	bool ok = true;

	for (int64_t i = 0; i < model->n; i++) {
		const int64_t point = model->rows[i].point;

		ok = ok && value_at(model, POINTS_ORDER, i) == point;
		for (int k = 0; k < MAX_KEYS; k++)
			ok = ok && old_value(model, k, value_at(model, POINTS_KEYS + k, i))
				== points->values[k][point];
		ok = ok && value_at(model, POINTS_NUMBERS, i) == points->values[MAX_KEYS][point];
		ok = ok && weights[i] == (double) point / 3 && ratios[i] == (float) point / 7;
		ok = ok && flags[i] == (point % 3 == 1);
	}
	return ok;
}

static bool runs_are_right(const struct model *model)
{
	const struct points *points = model->points;
	bool ok = true;

	for (int64_t r = 0; points->choice.has_runs && r < model->n_runs; r++) {
		const double *weights = model->plan->data[points->numbers[POINTS_RUN_WEIGHTS]];
		const int64_t point = model->rows[model->runs[r]].point;

		for (int k = 0; k < (points->live ? points->choice.n_keys : MAX_KEYS); k++)
			ok = ok && old_value(model, k, value_at(model, POINTS_RUN_KEYS + k, r))
				== points->values[k][point];
		ok = ok && (points->live || weights[r] == (double) point / 3);
	}
	return ok;
}

/* New numbers are 0, 1, … by first use; those of unused values come last, ascending. */
static bool numbers_are_right(const struct model *model)
{
	const struct points_choice *choice = &model->points->choice;
	int64_t next = 0;
	bool ok = true;

	if (!choice->is_renumbered)
		return true;
	for (int64_t i = 0; i < choice->n; i++) {
		const int64_t value = value_at(model, POINTS_KEYS + 2, i);

		ok = ok && value <= next;
		next += value == next;
	}
	for (int64_t v = next + 1; v < choice->limits[2]; v++)
		ok = ok && value_at(model, POINTS_RENUMBERED, v - 1) < value_at(model, POINTS_RENUMBERED, v);
	return ok;
}

/* What lies behind an array may be read, and is zero. */
static bool tails_are_zero(const struct model *model)
{
	const struct points *points = model->points;
	static const char zeros[64];
	const double *weights = model->plan->data[points->numbers[POINTS_WEIGHTS]];
	const float *ratios = model->plan->data[points->numbers[POINTS_RATIOS]];

	return memcmp(weights + model->n, zeros, sizeof zeros) == 0
		&& memcmp(ratios + model->n, zeros, sizeof zeros) == 0;
}

static const int32_t *part_array(const struct model *model, enum points_array which)
{
	return model->plan->data[model->points->numbers[which]];
}

/* The longest parts of which each team has two; of a host, those for many points. */
static int64_t most_of_part(const struct model *model)
{
	const int64_t teams = model->plan->device_teams;
	int64_t most = 512;

	while (teams > 0 && most > 32 && most * teams * 2 > model->points->choice.n)
		most -= 32;
	return most;
}

/* Each point is in one part, of its own segment; equal values stand together, in as few parts as can be, of nearly
 * equal length, of whole warps but for the last. Each value has one. */
static bool parts_are_right(const struct model *model)
{
	const int64_t n = model->points->choice.n, n_parts = model->plan->sizes[POINTS_N_PARTS];
	const int64_t most = most_of_part(model);
	int64_t covered = 0, changes = 0;
	const int32_t *values, *begins, *ends;

	if (!model->points->choice.has_parts)
		return true;
	values = part_array(model, POINTS_PART_VALUES);
	begins = part_array(model, POINTS_PART_BEGINS);
	ends = part_array(model, POINTS_PART_ENDS);
	for (int64_t p = 0; p < n_parts; p++) {
		const bool goes_on = p > 0 && values[p] == values[p - 1];
		const int64_t length = ends[p] - begins[p], before = goes_on ? ends[p - 1] - begins[p - 1] : length;

		if (length < (goes_on ? 1 : 0) || length > most || llabs(length - before) > 32)
			return false;
		if (goes_on && (begins[p] != ends[p - 1] || before % 32 != 0 || before + length <= most))
			return false;
		for (int64_t k = begins[p]; k < ends[p]; k++)
			if (model->values[model->rows[k].keys[0]] != values[p])
				return false;
		covered += length;
		changes += !goes_on;
	}
	return covered == n && changes == model->points->choice.limits[0];
}

/* Where the last neighbourhood begins, of an eighth of n values, or 4096, and less than 1024 more. */
static int64_t last_neighbourhood(int64_t n)
{
	const int64_t least = n / 8 > 4096 ? n / 8 : 4096;

	return n > least ? (n - least) / 1024 * 1024 : 0;
}

/* In each neighbourhood of 1024 values, and in the last one, 128 after the other have parts that are no longer than
 * those before. */
static bool parts_come_by_length(const struct model *model)
{
	const int64_t last = last_neighbourhood(model->points->args.limits[0]);
	const int64_t n_parts = model->points->choice.has_parts ? model->plan->sizes[POINTS_N_PARTS] : 0;
	int64_t shortest = INT64_MAX, before = INT64_MAX, number = 0;

	for (int64_t p = 0, next = 0; p < n_parts; p = next, number++) {
		const int32_t *values = part_array(model, POINTS_PART_VALUES);
		int64_t length;

		while (next < n_parts && values[next] == values[p])
			next++;
		length = (part_array(model, POINTS_PART_ENDS)[next - 1] - part_array(model, POINTS_PART_BEGINS)[p]) /
			 (next - p);
		if (number % 128 == 0) {
			before = number <= last && number % 1024 == 0 ? INT64_MAX : shortest;
			shortest = INT64_MAX;
		}
		if (length > before)
			return false;
		shortest = length < shortest ? length : shortest;
	}
	return true;
}

void points_check(struct tests *tests, const struct points *points, const pmg_plan *plan, int threads)
{
	const struct model model = model_of(points, plan);

	CHECK(tests, segments_are_right(&model));
	CHECK(tests, chunks_are_right(&model, threads));
	CHECK(tests, copies_are_right(&model));
	CHECK(tests, runs_are_right(&model));
	CHECK(tests, parts_are_right(&model));
	CHECK(tests, parts_come_by_length(&model));
	CHECK(tests, numbers_are_right(&model));
	CHECK(tests, tails_are_zero(&model));
	model_free(&model);
}
