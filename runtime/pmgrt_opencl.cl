/* SPDX-License-Identifier: MIT
 *
 * What kernels in OpenCL C are written with. The runtime carries this text, and the headers that it shares with C in
 * the place of SHARED, and hands them to the compiler of the device ahead of a program's kernels. OpenCL C 1.2
 * with doubles; updates of 64 bits need cl_khr_int64_base_atomics. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#define INT8_MIN CHAR_MIN
#define INT8_MAX CHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_C(n) n##L

/* Functions of C that have one name for all types here. */
#define expf exp
#define logf log
#define sqrtf sqrt
#define sinf sin
#define cosf cos
#define tanhf tanh
#define powf pow
#define fabsf fabs
#define floorf floor
#define ceilf ceil
#define fmodf fmod
#define expm1f expm1

/* Of the bits of a variable. */
static inline void pmg_copy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uchar *) to)[i] = ((const uchar *) from)[i];
}
#define memcpy pmg_copy

SHARED

/* A parameter is no bool, whose size OpenCL leaves open: truth values have a byte, as on the host. */
#define bool uchar

/* ---- Work items: of the names that the kernel tree has, a team is one item ------------------------------------ */

#define PMG_TEAM(lanes, group, width) \
	const int64_t pmg_index = (int64_t) get_global_id(0), pmg_teams = (int64_t) get_global_size(0)

/* ---- Updates that may meet: by compare and exchange of the word around the cell --------------------------------- */

#define PMG_ATOMIC(operation, id, type, bits, exchange, result) \
	static inline void pmg_opencl_atomic_##operation##_##id(volatile global type *target, type value) \
	{ \
		volatile global bits *word = (volatile global bits *) target; \
		bits seen = *word, before, after; \
		type old, wanted; \
		do { \
			before = seen; \
			memcpy(&old, &before, sizeof old); \
			wanted = (result); \
			memcpy(&after, &wanted, sizeof after); \
			seen = after == before ? before : exchange(word, before, after); \
		} while (seen != before); \
	}

/* Of a cell that is a part of a word. */
#define PMG_ATOMIC_PART(operation, id, type, unused, exchange, result) \
	static inline void pmg_opencl_atomic_##operation##_##id(volatile global type *target, type value) \
	{ \
		volatile global uint *word = (volatile global uint *) ((size_t) target & ~(size_t) 3); \
		const uint shift = (uint) ((size_t) target & 3)*8, mask = ((1u << sizeof(type)*8) - 1) << shift; \
		uint seen = *word, before, after; \
		type old; \
		do { \
			before = seen; \
			old = (type) (before >> shift); \
			after = (before & ~mask) | ((uint) (type) (result) << shift & mask); \
			seen = after == before ? before : exchange(word, before, after); \
		} while (seen != before); \
	}

/* Sums and products of integers are those of their bits, `as` what they are computed in. */
#define PMG_ATOMICS(X, id, type, as, bits, exchange) \
	X(add, id, type, bits, exchange, (type) ((as) old + (as) value)) \
	X(prod, id, type, bits, exchange, (type) ((as) old*(as) value)) \
	X(min, id, type, bits, exchange, pmg_min_##id(old, value)) \
	X(max, id, type, bits, exchange, pmg_max_##id(old, value))

PMG_ATOMICS(PMG_ATOMIC_PART, i8, int8_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC_PART, u8, uint8_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC_PART, bool, bool, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC_PART, i16, int16_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC_PART, u16, uint16_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC, i32, int32_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC, u32, uint32_t, uint, uint, atomic_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC, f32, float, float, uint, atomic_cmpxchg)
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
PMG_ATOMICS(PMG_ATOMIC, i64, int64_t, ulong, ulong, atom_cmpxchg)
PMG_ATOMICS(PMG_ATOMIC, f64, double, double, ulong, atom_cmpxchg)
#endif

/* ---- Sums of all work items --------------------------------------------------------------------------------------
 * The kernel is started twice. First each item leaves what it has found. Then come items whose numbers begin so high
 * that no loop has iterations for them; the first of them adds up what the others have left, in their order. */

#define PMG_GRID_SUM(operation, id, type, unused_bits, unused_exchange, result) \
	static inline bool pmg_opencl_grid_##operation##_##id(type *sum, global pmg_opencl_parts *parts) \
	{ \
		const size_t number = get_global_id(0) - get_global_offset(0); \
		type old; \
		if (get_global_offset(0) == 0) { \
			*(global type *) &parts->values[number] = *sum; \
			parts->n = (int64_t) get_global_size(0); \
			return false; \
		} \
		*sum = *(global type *) &parts->values[0]; \
		for (int64_t i = 1; number == 0 && i < parts->n; i++) { \
			const type value = *(global type *) &parts->values[i]; \
			old = *sum; \
			*sum = (result); \
		} \
		return number == 0; \
	}

PMG_ATOMICS(PMG_GRID_SUM, i8, int8_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, u8, uint8_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, bool, bool, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, i16, int16_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, u16, uint16_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, i32, int32_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, u32, uint32_t, uint, , )
PMG_ATOMICS(PMG_GRID_SUM, f32, float, float, , )
PMG_ATOMICS(PMG_GRID_SUM, i64, int64_t, ulong, , )
PMG_ATOMICS(PMG_GRID_SUM, f64, double, double, , )

/* ---- Bad values: the first one is kept ---------------------------------------------------------------------------- */

static inline void pmg_bad_index(global pmg_opencl_bad_index *bad, int32_t array, int64_t position, int64_t value)
{
	if (atomic_xchg((volatile global int *) &bad->is_claimed, 1) != 0)
		return;
	bad->array = array;
	bad->position = position;
	bad->value = value;
}

static inline void pmg_opencl_note_pivot(global pmg_opencl_bad_pivot *bad, double pivot, int32_t elimination,
					 int64_t row, int64_t system)
{
	if (atomic_xchg((volatile global int *) &bad->is_claimed, 1) != 0)
		return;
	bad->elimination = elimination;
	bad->row = row;
	bad->system = system;
	bad->pivot = pivot;
}

static inline void pmg_check_pivot(global pmg_opencl_bad_index *bad, double pivot, int32_t elimination, int64_t row,
				   int64_t system)
{
	if (fabs(pivot) > pivot - pivot)
		return;
	pmg_opencl_note_pivot(pivot == 0 ? &bad->zero : &bad->infinite, pivot, elimination, row, system);
	if (pivot == 0)
		bad->is_claimed = 1;
}

/* ---- Loops of the host: it starts iterations ahead of what it knows, and those that are not to be do nothing ------- */

#define PMG_IN_LOOP \
	if (pmg_loop->is_over) \
		return

kernel void pmg_opencl_stop_if_bad(global pmg_opencl_loop *loop, global const pmg_opencl_bad_index *bad)
{
	if (get_global_id(0) == 0 && bad->is_claimed)
		loop->is_over = 1;
}

/* Goes `advance` iterations on; false: it is over. */
static inline bool pmg_opencl_advance(global pmg_opencl_loop *loop, global const pmg_opencl_bad_index *bad,
				      int64_t advance)
{
	if (get_global_id(0) > 0 || loop->is_over)
		return false;
	loop->is_over = bad->is_claimed;
	loop->it += loop->is_over ? 0 : advance;
	return !loop->is_over;
}
