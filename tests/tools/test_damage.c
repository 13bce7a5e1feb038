/* SPDX-License-Identifier: MIT
 *
 * Files that were damaged: a small file of each format cut at every byte, with every byte changed, and
 * files that lie about their sizes. Each must be read as what it then is or be refused as wrong data, with
 * its name; a crash ends the test. A cut file must be refused wherever the format says how much there is.
 * Of what libhdf5 reads it is every byte with PMG_TEST_LONG, else one of some. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/formats.h"

/* What libhdf5 reads has a process for each file, which is slow where memory is watched. */
#ifdef SANITIZED
enum { PROCESS_STEP = 62 };
#else
enum { PROCESS_STEP = 7 };
#endif

struct tally {
	int passed, failed;
};

struct bytes {
	size_t n;
	char data[1 << 14];
};

static char folder[] = "/tmp/pmg-damage-XXXXXX";

static void check(struct tally *tally, bool holds, const char *file, size_t at, const char *what)
{
	tally->passed += holds;
	tally->failed += !holds;
	if (!holds)
		fprintf(stderr, "%s, byte %zu: %s\n", file, at, what);
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	FILE *file = fopen(name, "wb");
	if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0) {
		perror(name);
		exit(1);
	}
}

static void get_file(const char *name, struct bytes *bytes)
{
	FILE *file = fopen(name, "rb");
	bytes->n = file ? fread(bytes->data, 1, sizeof(bytes->data), file) : 0;
	if (file)
		fclose(file);
}

/* ---- The files that are damaged ------------------------------------------------------------ */

static void make_array(struct content *content)
{
	struct failure failure;
	const int64_t shape[2] = { 2, 3 };
	struct member *member = content_add(content, "A", &failure);
	content->kind = CONTENT_ARRAY;
	ndarray_new(&member->array, PMG_F64, 2, shape, &failure);
	for (int i = 0; i < 6; i++)
		((double *) member->array.data)[i] = 1.5 * i - 2;
}

static void make_tensor(struct content *content)
{
	static const int32_t coordinates[2][4] = { { 0, 1, 1, 2 }, { 3, 0, 2, 1 } };
	struct failure failure;
	const int64_t n = 4;
	content->kind = CONTENT_TENSOR;
	content->sizes[0] = content->sizes[1] = -1;
	for (int m = 0; m < 3; m++) {
		struct member *member = content_add(content,
						    m == 0   ? "row"
						    : m == 1 ? "column"
							     : "value",
						    &failure);
		ndarray_new(&member->array, m < 2 ? PMG_I32 : PMG_F64, 1, &n, &failure);
		if (m < 2)
			memcpy(member->array.data, coordinates[m], sizeof(coordinates[m]));
		for (int i = 0; m == 2 && i < n; i++)
			((double *) member->array.data)[i] = 0.25 + i;
	}
}

static void write_files(void)
{
	static const struct {
		const char *name;
		bool is_tensor;
	} files[] = { { "a.npy", false }, { "a.h5", false },  { "a.mtx", false },
		      { "a.txt", false }, { "a.f64", false }, { "t.h5", true },
		      { "t.mtx", true },  { "t.tns", true },  { "t.tsv", true } };
	struct arena arena = { 0 };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct content content = { 0 };
		struct location location;
		struct failure failure;
		if (files[i].is_tensor)
			make_tensor(&content);
		else
			make_array(&content);
		if (!location_parse(&location, &arena, files[i].name, &failure) ||
		    !content_write(&location, &content, &failure)) {
			fprintf(stderr, "%s\n", failure.text);
			exit(1);
		}
		content_free(&content);
	}
	arena_release(&arena);
}

static void compress_file(const char *from, const char *to)
{
	struct bytes bytes;
	gzFile file = gzopen(to, "wb");
	get_file(from, &bytes);
	gzwrite(file, bytes.data, (unsigned) bytes.n);
	gzclose(file);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* OK, or the outcome of the failure, which must name the file. */
static enum outcome read_outcome(struct tally *tally, const char *name, const char *shaped, size_t at)
{
	struct arena arena = { 0 };
	struct location location;
	struct content content;
	struct failure failure = { 0 };
	enum outcome outcome = OUTCOME_OK;
	if (!location_parse(&location, &arena, shaped, &failure) ||
	    !content_read(&location, NULL, &content, &failure))
		outcome = failure.outcome;
	else
		content_free(&content);
	if (outcome != OUTCOME_OK)
		check(tally, strstr(failure.text, name), name, at, failure.text);
	arena_release(&arena);
	return outcome;
}

static bool is_clean(enum outcome outcome)
{
	return outcome == OUTCOME_DATA || outcome == OUTCOME_IO || outcome == OUTCOME_RESOURCES;
}

/* `whole_from`: from this length on a cut cannot be told from a shorter file. */
static void cut_file(struct tally *tally, const char *name, const char *shaped, size_t step,
		     size_t whole_from)
{
	struct bytes bytes;
	get_file(name, &bytes);
	check(tally, bytes.n > 8 && bytes.n < sizeof(bytes.data), name, 0, "was not written");
	check(tally, read_outcome(tally, name, shaped, bytes.n) == OUTCOME_OK, name, bytes.n,
	      "cannot be read whole");
	for (size_t n = 0; n < bytes.n; n += step) {
		put_file(name, bytes.data, n);
		enum outcome outcome = read_outcome(tally, name, shaped, n);
		check(tally, is_clean(outcome) || (outcome == OUTCOME_OK && n >= whole_from), name, n,
		      "the cut file is not refused");
	}
	put_file(name, bytes.data, bytes.n);
}

static void change_bytes(struct tally *tally, const char *name, const char *shaped, size_t step)
{
	static const unsigned char masks[] = { 0xff, 0x01, 0x80 };
	struct bytes bytes;
	get_file(name, &bytes);
	for (size_t at = 0; at < bytes.n; at += step) {
		char old = bytes.data[at];
		bytes.data[at] = (char) (old ^ masks[at / step % sizeof(masks)]);
		put_file(name, bytes.data, bytes.n);
		enum outcome outcome = read_outcome(tally, name, shaped, at);
		check(tally, outcome == OUTCOME_OK || is_clean(outcome), name, at,
		      "the changed file is not refused cleanly");
		bytes.data[at] = old;
	}
	put_file(name, bytes.data, bytes.n);
}

/* The length from which only the last line is cut. */
static size_t last_line(const char *name)
{
	struct bytes bytes;
	get_file(name, &bytes);
	size_t at = bytes.n - 1;
	while (at > 0 && bytes.data[at - 1] != '\n')
		at--;
	return at + 1;
}

static void damage_all(struct tally *tally)
{
	static const struct {
		const char *name, *shaped;
		bool has_count;
		bool is_text;
		size_t cut_step, change_step;
	} files[] = {
		{ "a.npy", "a.npy", true, false, 1, 1 },
		{ "a.f64", "a.f64[2,3]", true, false, 1, 1 },
		{ "a.h5", "a.h5:/data", true, false, PROCESS_STEP, 5 * PROCESS_STEP },
		{ "t.h5", "t.h5:/", true, false, 7 * PROCESS_STEP, 11 * PROCESS_STEP },
		{ "a.mtx", "a.mtx", true, true, 1, 1 },
		{ "t.mtx", "t.mtx", true, true, 1, 1 },
		{ "a.txt", "a.txt", false, true, 1, 1 },
		{ "t.tns", "t.tns", false, true, 1, 1 },
		{ "t.tsv", "t.tsv", false, true, 1, 1 },
		{ "t.tsv.gz", "t.tsv.gz", true, false, 1, 1 },
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const bool is_long = getenv("PMG_TEST_LONG");
		size_t whole_from = !files[i].has_count ? 0
				    : files[i].is_text  ? last_line(files[i].name)
							: SIZE_MAX;
		cut_file(tally, files[i].name, files[i].shaped, is_long ? 1 : files[i].cut_step, whole_from);
		change_bytes(tally, files[i].name, files[i].shaped, is_long ? 1 : files[i].change_step);
	}
}

/* ---- Lies ----------------------------------------------------------------------------------------- */

static void lie(struct tally *tally, const char *name, const char *text)
{
	put_file(name, text, strlen(text));
	check(tally, read_outcome(tally, name, name, 0) == OUTCOME_DATA, name, 0, text);
}

static void npy_lie(struct tally *tally, const char *dictionary)
{
	char bytes[256] = "\x93NUMPY\x01";
	size_t n = strlen(dictionary);
	bytes[8] = (char) n;
	memcpy(bytes + 10, dictionary, n);
	put_file("lie.npy", bytes, 10 + n);
	check(tally, read_outcome(tally, "lie.npy", "lie.npy", 0) == OUTCOME_DATA, "lie.npy", 0, dictionary);
}

static void tell_lies(struct tally *tally)
{
	npy_lie(tally, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,), }");
	npy_lie(tally,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2147483648, 2147483648, 2147483648), }");
	npy_lie(tally, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }");
	npy_lie(tally, "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }");
	npy_lie(tally, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }");
	npy_lie(tally, "{'descr': '|O', 'fortran_order': False, 'shape': (0,), }");
	npy_lie(tally, "{'descr': '<c16', 'fortran_order': False, 'shape': (0,), }");
	npy_lie(tally, "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (0,), }");
	npy_lie(tally, "{'shape': (0,), }");
	npy_lie(tally, "");
	lie(tally, "lie.mtx",
	    "%%MatrixMarket matrix array real general\n4611686018427387903 4611686018427387903\n1\n");
	lie(tally, "lie.mtx",
	    "%%MatrixMarket matrix coordinate real general\n2 2 4611686018427387903\n1 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n1 2 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real general\n-2 2 0\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1 1\n1 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n1 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n");
	lie(tally, "lie.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n");
	lie(tally, "lie.tns", "");
	lie(tally, "lie.tns", "# nothing\n");
	lie(tally, "lie.tns", "1.5\n");
	lie(tally, "lie.tns", "0 1 2.5\n");
	lie(tally, "lie.tns", "1 -1 2.5\n");
	lie(tally, "lie.tns", "1 99999999999999999999 2.5\n");
	lie(tally, "lie.tns", "1.5 1 2.5\n");
	lie(tally, "lie.tns", "1 1 1 1 1 1 1 1 1 2.5\n");
	lie(tally, "lie.tns", "1 1 2.5\n1 1 1 2.5\n");
	lie(tally, "lie.txt", "1 2\n3\n");
	lie(tally, "lie.txt", "1 0x10\n");
	lie(tally, "lie.txt", "1e999\n");
	lie(tally, "lie.txt", "one\n");
	lie(tally, "lie.f64", "seven b");
	lie(tally, "lie.h5", "\x89HDF\r\n\x1a\n and nothing more");
	lie(tally, "lie.bool", "\x02");
}

/* A few kilobytes that are a gigabyte of zeros. */
static void expand_bombs(struct tally *tally)
{
	static const char zeros[1 << 16] = { 0 };
	gzFile file = gzopen("bomb.txt.gz", "wb9");
	for (int i = 0; i < 1 << 12; i++)
		gzwrite(file, zeros, sizeof(zeros));
	gzclose(file);
	check(tally, read_outcome(tally, "bomb.txt.gz", "bomb.txt.gz", 0) == OUTCOME_DATA, "bomb.txt.gz", 0,
	      "is not refused");
	char *spaces = malloc(1 << 20);
	memset(spaces, ' ', 1 << 20);
	file = gzopen("bomb.txt.gz", "wb9");
	for (int i = 0; i < 1 << 9; i++)
		gzwrite(file, spaces, 1 << 20);
	gzclose(file);
	free(spaces);
	check(tally, read_outcome(tally, "bomb.txt.gz", "bomb.txt.gz", 0) == OUTCOME_DATA, "bomb.txt.gz", 0,
	      "is not refused");
}

static void remove_files(void)
{
	static const char *const names[] = { "a.npy",   "a.f64",    "a.h5",       "t.h5",    "a.mtx",
					     "t.mtx",   "a.txt",    "t.tns",      "t.tsv",   "t.tsv.gz",
					     "lie.npy", "lie.mtx",  "lie.tns",    "lie.txt", "lie.f64",
					     "lie.h5",  "lie.bool", "bomb.txt.gz" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
}

int main(void)
{
	struct tally tally = { 0 };
	int here = open(".", O_RDONLY);
	if (!mkdtemp(folder) || chdir(folder) != 0) {
		perror(folder);
		return 1;
	}
	write_files();
	compress_file("t.tsv", "t.tsv.gz");
	damage_all(&tally);
	tell_lies(&tally);
	expand_bombs(&tally);
	remove_files();
	bool is_clean_folder = fchdir(here) == 0 && rmdir(folder) == 0;
	check(&tally, is_clean_folder, folder, 0, "something was left in the folder");
	close(here);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed > 0;
}
