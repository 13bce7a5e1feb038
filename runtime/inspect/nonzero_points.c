/* SPDX-License-Identifier: MIT
 *
 * Live points: those of a restructuring at which a weight is not zero. A solver with a sign constraint drives most
 * weights to zero and then keeps them there (thesis of K. Aggarwal, IISc 2020, 6.7); a product with such weights has
 * few points left, and yet reads all of them. Here the arrays of a restructuring are kept a second time, for the live
 * points only, as soon as that pays: the kernel sees one or the other.
 *
 * Each call looks at the weights. The union of the live ones over `patience` calls decides what a copy holds, so that
 * a weight that comes and goes belongs to it; a weight that was not in it makes all points come back at once, and the
 * next copy wait twice as long. No call sees a copy that lacks one of its live points. The order of points, and with it
 * each sum, is that of all points. */
#include "inspect/restructure.h"

#include <math.h>
#include <string.h>

enum {
	LEAST_POINTS = 1 << 15,                         /* a kernel over fewer is fast as it is */
	POINTS_PER_WEIGHT = 2,                          /* or with fewer: looking at the weights would cost too much */
	SAMPLES = 256, LEAST_ZEROS = SAMPLES / 4
};

/* ---- The weights ---- */

static bool is_live(const void *weights, pmg_type type, int64_t i)
{
	return type == PMG_F32 ? ((const float *) weights)[i] != 0 : ((const double *) weights)[i] != 0;
}

/* A look at a few, to see quickly that most are not zero. */
static bool seems_sparse(const void *weights, pmg_type type, int64_t n)
{
	int64_t zeros = 0;

	for (int64_t i = 0; i < SAMPLES; i++)
		zeros += !is_live(weights, type, share_begin(n, SAMPLES, i));
	return zeros >= LEAST_ZEROS;
}

/* Adds the live ones to `recent`; whether all of them are in `kept`. */
static bool weights_look(const struct live *live, const void *weights, pmg_type type)
{
	int64_t missing = 0;

	for (int64_t i = 0; i < live->n_weights; i++) {
		const uint8_t now = is_live(weights, type, i);

		live->recent[i] |= now;
		missing += now & (uint8_t) !live->kept[i];
	}
	return missing == 0;
}

static int64_t count_set(const uint8_t *set, int64_t n)
{
	int64_t count = 0;

	for (int64_t i = 0; i < n; i++)
		count += set[i];
	return count;
}

/* ---- Which arrays the kernel sees ---- */

static void side_show(struct plan *plan, const pmg_restructure_desc *desc, struct live *live, bool is_short)
{
	const struct live_side *side = &live->sides[is_short];

	for (int32_t i = 0; i < n_made(desc); i++)
		if (side->arrays[i].memory)
			plan->kernel.data[made_array(desc, i).number] = side->arrays[i].memory;
	if (desc->n_runs >= 0)
		plan->sizes[desc->n_runs] = side->n_runs;
	if (desc->n_chunks >= 0)
		plan->sizes[desc->n_chunks] = side->n_chunks;
	live->is_shown = is_short;
}

static void side_note_sizes(const struct plan *plan, const pmg_restructure_desc *desc, struct live_side *side)
{
	side->n_runs = desc->n_runs >= 0 ? plan->sizes[desc->n_runs] : 0;
	side->n_chunks = desc->n_chunks >= 0 ? plan->sizes[desc->n_chunks] : 0;
}

static void short_drop(struct plan *plan, const pmg_restructure_desc *desc, struct live *live)
{
	struct live_side *side = &live->sides[true];

	if (live->is_shown)
		side_show(plan, desc, live, false);
	for (int32_t i = 0; i < n_made(desc); i++) {
		plan_release(plan, side->arrays[i].memory, side->arrays[i].bytes);
		side->arrays[i] = (struct live_array) { NULL, 0 };
	}
	pmg_live_drop(&live->rule);
	memset(live->kept, 1, (size_t) live->n_weights);
}

/* ---- Shortening: segment by segment, in shares of about equally many points ---- */

struct reader {
	struct elements from;
	int64_t first, n, end;          /* values[0..n] are elements first..first + n of `end` */
	int64_t values[BLOCK];
};

static inline int64_t reader_at(struct reader *reader, int64_t i)
{
	if (i < reader->first || i >= reader->first + reader->n) {
		reader->first = i;
		reader->n = block_size(i, reader->end);
		elements_read(&reader->from, i, reader->n, reader->values);
	}
	return reader->values[i - reader->first];
}

struct shortening {
	struct inspection in;           /* of the short restructuring */
	const struct live *live;
	int32_t by;
	bool is_counting;
};

/* What a share has found, and where it goes. */
struct share {
	const struct shortening *s;
	int64_t points, runs;           /* so far, those of the shares before it included */
	int64_t at[BLOCK], n_at;        /* points that are not copied yet */
	int64_t old_runs[BLOCK], starts[BLOCK], n_runs;
};

static void copies_move(const struct share *share, bool is_per_run, int64_t first, const int64_t *at, int64_t n)
{
	const struct plan *plan = share->s->in.plan;
	const pmg_restructure_desc *desc = share->s->in.desc;

	for (int32_t i = 0; i < n_made(desc); i++) {
		const struct made made = made_array(desc, i);
		struct elements from, to;

		if (made.kind != MADE_COPY || desc->copies[made.at].is_per_run != is_per_run)
			continue;
		to = array_values(plan, made.number);
		from = elements_dense(share->s->live->sides[false].arrays[i].memory, to.type);
		elements_move(&to, first, &from, at, n);
	}
}

static void points_flush(struct share *share)
{
	if (!share->s->is_counting)
		copies_move(share, false, share->points - share->n_at, share->at, share->n_at);
	share->n_at = 0;
}

static void runs_flush(struct share *share)
{
	if (!share->s->is_counting && has_runs(&share->s->in)) {
		const struct elements to = array_values(share->s->in.plan, share->s->in.desc->runs);

		elements_write(&to, share->runs - share->n_runs, share->n_runs, share->starts);
		copies_move(share, true, share->runs - share->n_runs, share->old_runs, share->n_runs);
	}
	share->n_runs = 0;
}

static void point_add(struct share *share, int64_t k)
{
	share->at[share->n_at++] = k;
	share->points++;
	if (share->n_at == BLOCK)
		points_flush(share);
}

static void run_add(struct share *share, int64_t old, int64_t start)
{
	share->old_runs[share->n_runs] = old;
	share->starts[share->n_runs++] = start;
	share->runs++;
	if (share->n_runs == BLOCK)
		runs_flush(share);
}

static void points_walk(struct share *share, struct reader *by, int64_t begin, int64_t end)
{
	const uint8_t *recent = share->s->live->recent;

	for (int64_t k = begin; k < end; k++)
		if (recent[reader_at(by, k)])
			point_add(share, k);
}

struct readers {
	struct reader segments, runs, by;
};

static struct reader reader_of(const struct shortening *s, int32_t number, int64_t n)
{
	const pmg_restructure_desc *desc = s->in.desc;
	struct reader reader = { .end = n };

	for (int32_t i = 0; i < n_made(desc); i++)
		if (number >= 0 && made_array(desc, i).number == number)
			reader.from = elements_dense(s->live->sides[false].arrays[i].memory,
						     inspected_type(&s->in.plan->desc->arrays[number],
								    s->in.plan->extents));
	return reader;
}

static void segment_walk(struct share *share, struct readers *readers, int64_t segment)
{
	const int64_t begin = reader_at(&readers->segments, segment), end = reader_at(&readers->segments, segment + 1);

	if (!has_runs(&share->s->in)) {
		points_walk(share, &readers->by, begin, end);
		return;
	}
	for (int64_t run = begin; run < end; run++) {
		const int64_t start = share->points;

		points_walk(share, &readers->by, reader_at(&readers->runs, run), reader_at(&readers->runs, run + 1));
		if (share->points > start)
			run_add(share, run, start);
	}
}

static void share_walk(struct share *share, int64_t first, int64_t end)
{
	const struct shortening *s = share->s;
	const struct inspection *in = &s->in;
	const struct elements segments = s->is_counting ? (struct elements) { NULL, 0, PMG_I64 }
						        : array_values(in->plan, in->desc->segments);
	struct readers readers = {
		reader_of(s, in->desc->segments, in->n_values + 1),
		reader_of(s, in->desc->runs, s->live->sides[false].n_runs + 1), reader_of(s, s->by, s->live->rule.n)
	};

	for (int64_t segment = first; segment < end; segment++) {
		const int64_t begin = has_runs(in) ? share->runs : share->points;

		if (!s->is_counting)
			elements_write(&segments, segment, 1, &begin);
		segment_walk(share, &readers, segment);
	}
	points_flush(share);
	runs_flush(share);
}

/* Runs the shares; on return first_points and first_runs say where each of them begins. */
static void shares_walk(const struct shortening *s, const int64_t *borders, int64_t *first_points, int64_t *first_runs)
{
	PARALLEL(s->in.n_shares, s->live->rule.n, schedule(static))
	for (int32_t i = 0; i < s->in.n_shares; i++) {
		struct share share = { .s = s };

		if (!s->is_counting) {
			share.points = first_points[i];
			share.runs = first_runs[i];
		}
		share_walk(&share, borders[i], borders[i + 1]);
		if (s->is_counting) {
			first_points[i + 1] = share.points;
			first_runs[i + 1] = share.runs;
		}
	}
	for (int32_t i = 0; i < s->in.n_shares && s->is_counting; i++) {
		first_points[i + 1] += first_points[i];
		first_runs[i + 1] += first_runs[i];
	}
}

static pmg_status short_allocate(const struct shortening *s)
{
	const struct inspection *in = &s->in;
	pmg_status status = inspected_new(in->plan, in->desc->segments, in->n_values + 1, in->order.n);

	if (status == PMG_OK && has_runs(in))
		status = inspected_new(in->plan, in->desc->runs, in->n_runs + 1, in->order.n);
	for (int32_t i = 0; i < in->desc->n_copies && status == PMG_OK; i++)
		status = inspected_new(in->plan, in->desc->copies[i].to,
				       in->desc->copies[i].is_per_run ? in->n_runs : in->order.n, 0);
	return status;
}

static void ends_write(const struct inspection *in)
{
	const int64_t end = has_runs(in) ? in->n_runs : in->order.n;
	const struct elements segments = array_values(in->plan, in->desc->segments);

	elements_write(&segments, in->n_values, 1, &end);
	if (has_runs(in)) {
		const struct elements runs = array_values(in->plan, in->desc->runs);

		elements_write(&runs, in->n_runs, 1, &in->order.n);
	}
}

/* Is an array one of those of which there are two? */
static bool is_doubled(const struct made *made)
{
	return made->number >= 0 && made->kind != MADE_ORDER && made->kind != MADE_VALUES;
}

/* What the plan has for these arrays becomes that of one side, and the other way round. */
static void side_take(struct plan *plan, const pmg_restructure_desc *desc, struct live_side *side)
{
	for (int32_t i = 0; i < n_made(desc); i++) {
		const struct made made = made_array(desc, i);

		if (!is_doubled(&made))
			continue;
		side->arrays[i].memory = plan->bindings[made.number].own;
		side->arrays[i].bytes = plan->bindings[made.number].own_bytes;
		plan->bindings[made.number].own = NULL;
		plan->bindings[made.number].own_bytes = 0;
	}
	side_note_sizes(plan, desc, side);
}

static void side_give_back(struct plan *plan, const pmg_restructure_desc *desc, const struct live_side *side)
{
	for (int32_t i = 0; i < n_made(desc); i++) {
		const struct made made = made_array(desc, i);

		if (!is_doubled(&made))
			continue;
		plan->bindings[made.number].own = side->arrays[i].memory;
		plan->bindings[made.number].own_bytes = side->arrays[i].bytes;
	}
}

/* Makes the copy of the points of `recent`, if these are few enough. All points are shown before; false: still. */
static bool short_make(struct shortening *s, struct live *live)
{
	int64_t borders[PMG_MAX_SHARES + 1], points[PMG_MAX_SHARES + 1] = { 0 }, runs[PMG_MAX_SHARES + 1] = { 0 };
	struct inspection *in = &s->in;
	struct plan *plan = in->plan;
	pmg_status status;

	for (int32_t i = 0; i <= in->n_shares; i++)
		borders[i] = i == 0 ? 0 : segment_find(in, share_begin(live->rule.n, in->n_shares, i));
	borders[in->n_shares] = in->n_values;
	side_take(plan, in->desc, &live->sides[false]);
	s->is_counting = true;
	shares_walk(s, borders, points, runs);
	in->order.n = points[in->n_shares];
	in->n_runs = runs[in->n_shares];
	status = pmg_live_pays(in->order.n, live->rule.n_held) ? short_allocate(s) : PMG_NO_RESOURCES;
	if (status == PMG_OK) {
		s->is_counting = false;
		shares_walk(s, borders, points, runs);
		ends_write(in);
		if (has_runs(in) && in->desc->n_runs >= 0)
			plan->sizes[in->desc->n_runs] = in->n_runs;
		status = chunks_make(in);
	}
	side_take(plan, in->desc, &live->sides[true]);
	side_give_back(plan, in->desc, &live->sides[false]);
	live->is_shown = true;
	if (status == PMG_OK)
		pmg_live_take(&live->rule, in->order.n);
	else
		short_drop(plan, in->desc, live);
	return status == PMG_OK;
}

/* ---- When ---- */

static bool is_finite_copy(const struct plan *plan, const pmg_copy_desc *copy, int64_t n)
{
	const pmg_array_desc *to = &plan->desc->arrays[copy->to];
	const bool is_top = copy->from >= 0 && plan->desc->arrays[copy->from].storage == PMG_AS_F64TOP;
	const void *data = plan->kernel.data[copy->to];
	int64_t n_bad = 0;

	for (int64_t i = 0; i < n; i++)
		if (to->type == PMG_F64)
			n_bad += !isfinite(((const double *) data)[i]);
		else if (to->type == PMG_F32)
			n_bad += !isfinite(((const float *) data)[i]);
		else if (is_top)
			n_bad += (((const uint32_t *) data)[i] >> 20 & 0x7ff) == 0x7ff;
		else
			return true;
	return n_bad == 0;
}

static bool copies_are_finite(const struct plan *plan, const pmg_restructure_desc *desc, int64_t n)
{
	const int64_t n_runs = desc->n_runs >= 0 ? plan->sizes[desc->n_runs] : 0;

	for (int32_t i = 0; i < desc->n_copies; i++)
		if (!is_finite_copy(plan, &desc->copies[i], desc->copies[i].is_per_run ? n_runs : n))
			return false;
	return true;
}

bool nonzero_points_pay(int64_t n, int64_t n_weights)
{
	return n >= LEAST_POINTS && n >= POINTS_PER_WEIGHT * n_weights;
}

/* Memory for what is remembered; false: there is none, or nothing can be left out. */
static bool live_begin(struct plan *plan, const pmg_restructure_desc *desc, struct live *live, int64_t n_weights)
{
	const int64_t n_arrays = 2 * n_made(desc);

	live->is_begun = true;
	live->rule = pmg_live_begin(points_of(plan->desc, desc, plan->extents));
	live->n_weights = n_weights;
	if (!nonzero_points_pay(live->rule.n, n_weights) || !copies_are_finite(plan, desc, live->rule.n))
		return false;
	live->bytes = n_arrays * (int64_t) sizeof(struct live_array) + 2 * n_weights;
	live->memory = plan_allocate(plan, live->bytes);
	if (!live->memory)
		return false;
	memset(live->memory, 0, (size_t) live->bytes);
	live->sides[false].arrays = live->memory;
	live->sides[true].arrays = live->sides[false].arrays + n_made(desc);
	live->kept = (uint8_t *) (live->sides[true].arrays + n_made(desc));
	live->recent = live->kept + n_weights;
	memset(live->kept, 1, (size_t) n_weights);
	return true;
}

static void window_end(struct plan *plan, const pmg_restructure_desc *desc, struct live *live, int32_t by)
{
	const int64_t n_kept = count_set(live->kept, live->n_weights);
	const int64_t n_recent = count_set(live->recent, live->n_weights);
	struct shortening s = {
		.in = { .plan = plan, .desc = desc, .order = { .n = live->rule.n },
			.n_shares = shares_of(live->rule.n, plan->kernel.threads),
			.n_values = array_limit(&plan->desc->arrays[desc->keys[0]], plan->extents) },
		.live = live, .by = by
	};

	/* By weights first: to count their points takes a walk. */
	if (pmg_live_pays(n_recent, n_kept)) {
		const int64_t n_held = live->rule.n_held;

		short_drop(plan, desc, live);
		live->rule.n_held = n_held;
		if (short_make(&s, live))
			memcpy(live->kept, live->recent, (size_t) live->n_weights);
		else
			pmg_live_wait_longer(&live->rule);
	}
	memset(live->recent, 0, (size_t) live->n_weights);
}

void pmg_live_points(pmg_plan *handle, int32_t restructuring, int32_t weights, int32_t by, bool is_finite)
{
	struct plan *plan = plan_of(handle);
	const pmg_restructure_desc *desc = &plan->desc->restructurings[restructuring];
	const pmg_array_desc *array = &plan->desc->arrays[weights];
	const void *values = plan->kernel.data[weights];
	const int64_t n = array_elements(array, plan->extents);
	struct live *live = &plan->live[restructuring];

	if (!live->is_begun && (n < SAMPLES || !is_finite || !seems_sparse(values, array->type, n) ||
				!live_begin(plan, desc, live, n)))
		return;
	if (!live->memory || n != live->n_weights)
		return;
	if (!weights_look(live, values, array->type) && live->rule.has_copy) {
		short_drop(plan, desc, live);
		pmg_live_fail(&live->rule);
	}
	if (pmg_live_window_ends(&live->rule))
		window_end(plan, desc, live, by);
	if (live->rule.has_copy && !live->is_shown)
		side_show(plan, desc, live, true);
}

void pmg_all_points(pmg_plan *handle, int32_t restructuring)
{
	struct plan *plan = plan_of(handle);

	if (plan->live[restructuring].is_shown)
		side_show(plan, &plan->desc->restructurings[restructuring], &plan->live[restructuring], false);
}

void nonzero_points_release(struct plan *plan)
{
	for (int32_t i = 0; i < plan->desc->n_restructurings; i++) {
		struct live *live = &plan->live[i];

		if (live->rule.has_copy)
			short_drop(plan, &plan->desc->restructurings[i], live);
		plan_release(plan, live->memory, live->bytes);
	}
}
