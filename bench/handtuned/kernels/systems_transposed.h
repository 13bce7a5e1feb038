/* SPDX-License-Identifier: MIT
 *
 * Flat data that are used once: squares of WIDTH rows and systems are transposed in registers into a buffer of a few
 * kilobytes, eliminated there, and what substitution gives is transposed back. Two squares of systems at a time, so
 * that one is divided while the other waits; factors stay in scratch. Included behind the interleaved kernels. */

enum { SQUARES = 2, SIDE = WIDTH, STRIP = SQUARES * WIDTH };

#if VECTOR_BYTES == 64
#define PAIRS_1_LOW 0, 8, 2, 10, 4, 12, 6, 14
#define PAIRS_1_HIGH 1, 9, 3, 11, 5, 13, 7, 15
#define PAIRS_2_LOW 0, 1, 8, 9, 4, 5, 12, 13
#define PAIRS_2_HIGH 2, 3, 10, 11, 6, 7, 14, 15
#define PAIRS_4_LOW 0, 1, 2, 3, 8, 9, 10, 11
#define PAIRS_4_HIGH 4, 5, 6, 7, 12, 13, 14, 15
#else
#define PAIRS_1_LOW 0, 4, 2, 6
#define PAIRS_1_HIGH 1, 5, 3, 7
#define PAIRS_2_LOW 0, 1, 4, 5
#define PAIRS_2_HIGH 2, 3, 6, 7
#endif
#define EXCHANGE(a, b, low, high) \
	do { \
		vector a_ = a, b_ = b; \
		a = __builtin_shufflevector(a_, b_, low); \
		b = __builtin_shufflevector(a_, b_, high); \
	} while (0)

INLINE void transpose(vector *r)
{
	for (int i = 0; i < SIDE; i += 2)
		EXCHANGE(r[i], r[i + 1], PAIRS_1_LOW, PAIRS_1_HIGH);
	for (int i = 0; i < SIDE; i++)
		if (!(i & 2))
			EXCHANGE(r[i], r[i + 2], PAIRS_2_LOW, PAIRS_2_HIGH);
#if VECTOR_BYTES == 64
	for (int i = 0; i < 4; i++)
		EXCHANGE(r[i], r[i + 4], PAIRS_4_LOW, PAIRS_4_HIGH);
#endif
}

/* The systems of a strip: where each begins, the last one again for those that do not exist. */
struct strip {
	int64_t at[STRIP];
	int n_systems;
	int64_t n;
	double *g, *h;
};

/* to[row*STRIP + lane] = from[at[lane] + i + row] for SIDE rows, or those that there are. */
INLINE void gather_rows(double *to, const double *from, const struct strip *s, int64_t i)
{
	if (i + SIDE > s->n) {
		for (int64_t row = 0; i + row < s->n; row++)
			for (int lane = 0; lane < STRIP; lane++)
				to[row * STRIP + lane] = from[s->at[lane] + i + row];
		return;
	}
	for (int square = 0; square < SQUARES; square++) {
		vector r[SIDE];
		for (int lane = 0; lane < SIDE; lane++)
			r[lane] = load_f64(from + s->at[square * SIDE + lane] + i);
		transpose(r);
		for (int row = 0; row < SIDE; row++)
			store_f64(to + row * STRIP + square * SIDE, r[row]);
	}
}

INLINE void scatter_rows(double *to, const double *from, const struct strip *s, int64_t i)
{
	if (i + SIDE > s->n || s->n_systems < STRIP) {
		for (int64_t row = 0; row < SIDE && i + row < s->n; row++)
			for (int lane = 0; lane < s->n_systems; lane++)
				to[s->at[lane] + i + row] = from[row * STRIP + lane];
		return;
	}
	for (int square = 0; square < SQUARES; square++) {
		vector r[SIDE];
		for (int row = 0; row < SIDE; row++)
			r[row] = load_f64(from + row * STRIP + square * SIDE);
		transpose(r);
		for (int lane = 0; lane < SIDE; lane++)
			store_f64(to + s->at[square * SIDE + lane] + i, r[lane]);
	}
}

/* Rows i .. i+SIDE of the four arrays. Shared coefficients are the same in all lanes. */
struct buffers {
	double upper[SIDE * STRIP], lower[SIDE * STRIP], diag[SIDE * STRIP], rhs[SIDE * STRIP];
} __attribute__((aligned(64)));

INLINE void spread_rows(double *to, const double *from, const struct strip *s, int64_t i)
{
	for (int64_t row = 0; row < SIDE && i + row < s->n; row++)
		for (int square = 0; square < SQUARES; square++)
			store_f64(to + row * STRIP + square * SIDE, all_f64(from[i + row]));
}

INLINE void fill_buffers(struct buffers *b, const struct system_batch *batch, const struct strip *s, int64_t i)
{
	if (batch->is_shared) {
		spread_rows(b->upper, batch->upper, s, i);
		spread_rows(b->lower, batch->lower, s, i);
	} else {
		gather_rows(b->upper, batch->upper, s, i);
		gather_rows(b->lower, batch->lower, s, i);
	}
	gather_rows(b->diag, batch->diag, s, i);
	gather_rows(b->rhs, batch->rhs, s, i);
}

INLINE void strip_chain(const struct system_batch *batch, const struct strip *s, double *out)
{
	struct buffers b;
	vector g[SQUARES], h[SQUARES];
	for (int v = 0; v < SQUARES; v++)
		g[v] = h[v] = (vector){ 0 };
	for (int64_t i = 0; i < s->n; i++) {
		int64_t row = i % SIDE * STRIP;
		if (row == 0)
			fill_buffers(&b, batch, s, i);
		for (int v = 0; v < SQUARES; v++) {
			int64_t at = row + v * SIDE;
			vector lower = i ? load_f64(b.lower + at) : (vector){ 0 };
			vector inverse = 1.0 / (load_f64(b.diag + at) - lower * g[v]);
			g[v] = load_f64(b.upper + at) * inverse;
			h[v] = (load_f64(b.rhs + at) - lower * h[v]) * inverse;
			store_f64(s->g + i * STRIP + v * SIDE, g[v]);
			store_f64(s->h + i * STRIP + v * SIDE, h[v]);
		}
	}
	for (int64_t i = s->n - 1; i >= 0; i--) {
		int64_t row = i % SIDE * STRIP;
		for (int v = 0; v < SQUARES; v++) {
			if (i < s->n - 1)
				h[v] = load_f64(s->h + i * STRIP + v * SIDE) -
				       load_f64(s->g + i * STRIP + v * SIDE) * h[v];
			store_f64(b.diag + row + v * SIDE, h[v]);
		}
		if (row == 0)
			scatter_rows(out, b.diag, s, i);
	}
}

/* As tree_up(). */
INLINE void strip_up(const struct system_call *call, const struct strip *s, struct buffers *b)
{
	const int32_t *parent = call->batch->parent;
	vector to_diag[SQUARES], to_rhs[SQUARES];
	for (int v = 0; v < SQUARES; v++)
		to_diag[v] = to_rhs[v] = (vector){ 0 };
	for (int64_t i = s->n - 1; i >= 0; i--) {
		int row = call->rows[i];
		if (i == s->n - 1 || i % SIDE == SIDE - 1)
			fill_buffers(b, call->batch, s, i - i % SIDE);
		for (int v = 0; v < SQUARES; v++) {
			int64_t from = i % SIDE * STRIP + v * SIDE, at = i * STRIP + v * SIDE;
			vector e = load_f64(b->diag + from), r = load_f64(b->rhs + from);
			if (row & ROW_ADDED) {
				e += load_f64(s->g + at);
				r += load_f64(s->h + at);
			}
			if (row & ROW_NEXT) {
				e += to_diag[v];
				r += to_rhs[v];
			}
			vector inverse = 1.0 / e, h = r * inverse, g = load_f64(b->lower + from) * inverse;
			vector upper = load_f64(b->upper + from);
			store_f64(s->h + at, h);
			store_f64(s->g + at, g);
			to_diag[v] = -upper * g;
			to_rhs[v] = -upper * h;
			if (row & (ROW_ROOT | ROW_CHAIN))
				continue;
			at = parent[i] * (int64_t) STRIP + v * SIDE;
			bool is_first = row & ROW_FIRST;
			store_f64(s->g + at, is_first ? to_diag[v] : load_f64(s->g + at) + to_diag[v]);
			store_f64(s->h + at, is_first ? to_rhs[v] : load_f64(s->h + at) + to_rhs[v]);
		}
	}
}

INLINE void strip_down(const struct system_call *call, const struct strip *s, struct buffers *b, double *out)
{
	const int32_t *parent = call->batch->parent;
	vector x[SQUARES];
	for (int v = 0; v < SQUARES; v++)
		x[v] = (vector){ 0 };
	for (int64_t i = 0; i < s->n; i++) {
		int row = call->rows[i];
		for (int v = 0; v < SQUARES; v++) {
			int64_t at = i * STRIP + v * SIDE, above = parent[i] * (int64_t) STRIP + v * SIDE;
			vector h = load_f64(s->h + at);
			if (!(row & ROW_ROOT))
				h -= load_f64(s->g + at) * (row & ROW_CHAIN ? x[v] : load_f64(s->h + above));
			x[v] = h;
			if (row & ROW_ADDED)
				store_f64(s->h + at, h);
			store_f64(b->diag + i % SIDE * STRIP + v * SIDE, h);
		}
		if (i % SIDE == SIDE - 1 || i == s->n - 1)
			scatter_rows(out, b->diag, s, i - i % SIDE);
	}
}

void ISA_NAME(system_transposed_f64)(const struct system_call *call, void *out)
{
	const struct system_batch *batch = call->batch;
	int64_t n_strips = (batch->n_systems + STRIP - 1) / STRIP;
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t strip = 0; strip < n_strips; strip++) {
		int64_t left = batch->n_systems - strip * STRIP;
		struct buffers b;
		struct strip s = { .n = batch->n, .n_systems = left < STRIP ? (int) left : STRIP };
		for (int lane = 0; lane < STRIP; lane++)
			s.at[lane] = batch->offset[strip * STRIP + (lane < left ? lane : left - 1)];
		s.g = (double *) (void *) ((char *) call->scratch +
					   (size_t) omp_get_thread_num() * call->scratch_bytes);
		s.h = s.g + (batch->n + 1) * STRIP;
		if (s.n == 0)
			continue;
		if (batch->is_chain) {
			strip_chain(batch, &s, out);
		} else {
			strip_up(call, &s, &b);
			strip_down(call, &s, &b, out);
		}
	}
}

/* ---- The stream ------------------------------------------------------------------------------ */

/* To an array of its own, past the caches, or, where the arrays fit there, into them. */
void ISA_NAME(system_stream)(int threads, int reads, int64_t n, bool streams, const double *const *from, double *x)
{
	const double *upper = from[0], *lower = from[1], *diag = from[2], *rhs = from[3];
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int64_t i = 0; i < n / SIDE; i++) {
		vector value = load_f64(diag + i * SIDE) + load_f64(rhs + i * SIDE);
		if (reads == 4)
			value += load_f64(upper + i * SIDE) + load_f64(lower + i * SIDE);
		put_f64(x + i * SIDE, value, streams);
	}
}

/* ---- The copy ---------------------------------------------------------------------------------- */

/* The same part of all arrays in a thread. */
void ISA_NAME(system_copy)(int threads, int arrays, int64_t n, bool streams, const double *const *from,
			   double *const *to)
{
#pragma omp parallel num_threads(threads)
	for (int array = 0; array < arrays; array++) {
#pragma omp for schedule(static) nowait
		for (int64_t i = 0; i < n / SIDE; i++)
			put_f64(to[array] + i * SIDE, load_f64(from[array] + i * SIDE), streams);
	}
}
