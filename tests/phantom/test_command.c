/* SPDX-License-Identifier: MIT
 *
 * `pmg phantom life`: which options it takes, which it refuses and how, and that a file is written whole or
 * not at all, the same bytes each time. */
#include "phantom/phantom.h"
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool equal(double a, double b)
{
	return a <= b && a >= b;
}

/* ---- Command line -------------------------------------------------------------------------------- */

/* Runs the command without its words on standard output and error. */
static int command(char *first, char *second, char *third)
{
	char *words[] = { "life", first, second, third, NULL };
	int n = 1, out = dup(1), err = dup(2), null = open("/dev/null", O_WRONLY);
	while (words[n])
		n++;
	fflush(stdout);
	dup2(null, 1);
	dup2(null, 2);
	int status = phantom_life_command(n, words);
	fflush(stdout);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	close(null);
	return status;
}

static bool is_refused(char *first, char *second, const char *word)
{
	struct life_phantom_options options;
	char error[256] = "", *words[] = { "life", first, second, NULL };
	pmg_status status = life_phantom_options_parse(&options, second ? 3 : 2, words, error, sizeof(error));
	return status == PMG_BAD_CALL && strstr(error, word) && command(first, second, NULL) == PMG_BAD_CALL;
}

static void test_bad_options(struct phantom_tally *tally)
{
	CHECK(tally, is_refused("--fibers", "-1", "--fibers: '-1' is not an integer from 0 to 100000000"));
	CHECK(tally, is_refused("--fibers", "1e3", "not an integer"));
	CHECK(tally, is_refused("--fibers", "99999999999999999999", "not an integer"));
	CHECK(tally, is_refused("--scale", "nan", "not a number"));
	CHECK(tally, is_refused("--scale", "inf", "not a number"));
	CHECK(tally, is_refused("--scale=1x", NULL, "'1x'"));
	CHECK(tally, is_refused("--tail=1.01", NULL, "from 0 to 1"));
	CHECK(tally, is_refused("--grid", "1", "--grid"));
	CHECK(tally, is_refused("--ntheta", "", "needs a value: N"));
	CHECK(tally, is_refused("--ntheta", NULL, "needs a value: N"));
	CHECK(tally, is_refused("-o", NULL, "FILE.h5"));
	CHECK(tally, is_refused("--stats=1", NULL, "takes no value"));
	CHECK(tally, is_refused("--fibres", "3", "did you mean --fibers?"));
	CHECK(tally, is_refused("-x", NULL, "'-x'"));
	CHECK(tally, is_refused("life.h5", NULL, "unknown option"));
	CHECK(tally, command(NULL, NULL, NULL) == PMG_BAD_CALL);
	CHECK(tally, command("--fibers", "3", NULL) == PMG_BAD_CALL);
}

static void test_good_options(struct phantom_tally *tally)
{
	struct life_phantom_options options;
	char error[256] = "", *words[] = { "life", "--fibers", "3", "--fibers=4", "--stats", "-o", "a.h5",
					   "--voxel-size", "2", NULL };
	CHECK(tally, life_phantom_options_parse(&options, 9, words, error, sizeof(error)) == PMG_OK);
	CHECK(tally, options.fibers == 4 && options.stats && strcmp(options.output, "a.h5") == 0);
	CHECK(tally, equal(options.scale, 8e-6) && equal(options.voxel_size, 2));
	CHECK(tally, options.grid == 72 && options.ntheta == 96 && options.seed == 1);
	CHECK(tally, command("--fibers=5", "--stats", NULL) == PMG_OK);
	CHECK(tally, command("--help", NULL, NULL) == PMG_OK);
}

static void test_resources(struct phantom_tally *tally)
{
	CHECK(tally, command("--scale=10", "--step=0.05", "--stats") == PMG_NO_RESOURCES);
	CHECK(tally, command("--grid=1000", "--ntheta=10000", "--stats") == PMG_NO_RESOURCES);
}

/* ---- Files -------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *path)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	FILE *file = fopen(path, "rb");
	for (int c; file && (c = getc(file)) != EOF;)
		hash = (hash ^ (uint64_t) c) * UINT64_C(1099511628211);
	if (file)
		fclose(file);
	return file ? hash : 0;
}

static int entries_in(const char *folder)
{
	DIR *directory = opendir(folder);
	int n = 0;
	for (struct dirent *entry; (entry = readdir(directory));)
		n += entry->d_name[0] != '.';
	closedir(directory);
	return n;
}

static bool holds_array(hid_t file, const char *name, hid_t type, const void *expected, int64_t n,
			size_t size)
{
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
	bool holds = H5Sget_simple_extent_npoints(space) == n;
	void *data = calloc((size_t) n, size);
	holds = holds && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0 &&
		phantom_same(data, expected, n, size);
	free(data);
	H5Sclose(space);
	H5Dclose(set);
	return holds;
}

static bool holds_integer(hid_t file, const char *object, const char *name, int64_t expected)
{
	int64_t value = -1;
	hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
	H5Aread(attribute, H5T_NATIVE_INT64, &value);
	H5Aclose(attribute);
	return value == expected;
}

static bool file_holds(const char *path, const struct life_problem *p)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	int64_t n = p->n_coeffs;
	bool holds =
		file >= 0 && holds_array(file, "/PHI/atom", H5T_NATIVE_INT32, p->atom, n, 4) &&
		holds_array(file, "/PHI/voxel", H5T_NATIVE_INT32, p->voxel, n, 4) &&
		holds_array(file, "/PHI/fiber", H5T_NATIVE_INT32, p->fiber, n, 4) &&
		holds_array(file, "/PHI/value", H5T_NATIVE_DOUBLE, p->value, n, 8) &&
		holds_array(file, "/D", H5T_NATIVE_DOUBLE, p->D, p->n_atoms * p->n_theta, 8) &&
		holds_array(file, "/y", H5T_NATIVE_DOUBLE, p->y, p->n_voxels * p->n_theta, 8) &&
		holds_array(file, "/w_true", H5T_NATIVE_DOUBLE, p->w_true, p->n_fibers, 8) &&
		holds_array(file, "/w", H5T_NATIVE_DOUBLE, p->w, p->n_fibers, 8) &&
		holds_array(file, "/S0", H5T_NATIVE_DOUBLE, p->S0, p->n_voxels, 8) &&
		holds_array(file, "/voxel_coords", H5T_NATIVE_INT32, p->voxel_coords, 3 * p->n_voxels, 4) &&
		holds_integer(file, "/PHI", "nAtoms", p->n_atoms) &&
		holds_integer(file, "/PHI", "nVoxels", p->n_voxels) &&
		holds_integer(file, "/PHI", "nFibers", p->n_fibers) &&
		holds_integer(file, "/PHI", "nTheta", p->n_theta) &&
		holds_integer(file, "/PHI", "nCoeffs", n) && holds_integer(file, "/", "seed", 1);
	H5Fclose(file);
	return holds;
}

/* The same bytes from every run and number of threads; what is read is what was made. */
static void test_file(struct phantom_tally *tally, const char *folder)
{
	struct life_phantom_options options;
	char path[2][512], output[2][540];
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.h5", folder, i);
		snprintf(output[i], sizeof(output[i]), "--output=%s", path[i]);
	}
	struct life_problem problem = phantom_make("--scale 0.01", &options);
	CHECK(tally, command("--scale=0.01", "--threads=1", output[0]) == PMG_OK);
	CHECK(tally, command("--scale=0.01", "--threads=2", output[1]) == PMG_OK);
	CHECK(tally, hash_of(path[0]) != 0 && hash_of(path[0]) == hash_of(path[1]));
	sleep(1);
	CHECK(tally, command("--scale=0.01", NULL, NULL) == PMG_BAD_CALL);
	CHECK(tally, command("--fibers=5000", "--threads=2", output[1]) == PMG_OK);
	CHECK(tally, hash_of(path[0]) == hash_of(path[1]));
	CHECK(tally, command("--scale=0.01", "--seed=2", output[1]) == PMG_OK);
	CHECK(tally, hash_of(path[0]) != hash_of(path[1]));
	CHECK(tally, file_holds(path[0], &problem));
	CHECK(tally, entries_in(folder) == 2);
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	life_problem_free(&problem);
}

/* Writes with a limit on the size of files; the status, and "error" as the writer left it. */
static pmg_status write_limited(const struct life_problem *problem,
				const struct life_phantom_options *options, const char *path, rlim_t limit,
				char *error, size_t size)
{
	struct rlimit usual, low;
	getrlimit(RLIMIT_FSIZE, &usual);
	low = usual;
	low.rlim_cur = limit;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &low);
	pmg_status status = life_problem_write(problem, options, path, error, size);
	setrlimit(RLIMIT_FSIZE, &usual);
	return status;
}

/* However early the disk is full, the old file stays and nothing lies beside it. */
static void test_full_disk(struct phantom_tally *tally, const char *folder)
{
	static const rlim_t limits[] = { 2048, 4096, 30000, 100000, 1000000 };
	struct life_phantom_options options;
	char path[512], error[512] = "";
	struct life_problem problem = phantom_make("--fibers 2000", &options);
	snprintf(path, sizeof(path), "%s/life.h5", folder);
	CHECK(tally, life_problem_write(&problem, &options, path, error, sizeof(error)) == PMG_OK);
	uint64_t before = hash_of(path);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		pmg_status status = write_limited(&problem, &options, path, limits[i], error, sizeof(error));
		CHECK(tally, status == PMG_IO && strstr(error, "life.h5': File too large"));
		CHECK(tally, hash_of(path) == before && entries_in(folder) == 1);
	}
	unlink(path);
	life_problem_free(&problem);
}

static void test_bad_paths(struct phantom_tally *tally, char *folder)
{
	char missing[512], link_path[512], real_path[512];
	snprintf(missing, sizeof(missing), "--output=%s/none/life.h5", folder);
	CHECK(tally, command("--fibers=3", missing, NULL) == PMG_IO);
	CHECK(tally, command("--fibers=3", "-o", folder) == PMG_BAD_CALL);
	CHECK(tally, command("--fibers=3", "-o", "/dev/null") == PMG_BAD_CALL);
	snprintf(real_path, sizeof(real_path), "%s/real.h5", folder);
	snprintf(link_path, sizeof(link_path), "%s/link.h5", folder);
	CHECK(tally, command("--fibers=3", "-o", real_path) == PMG_OK);
	CHECK(tally, symlink("real.h5", link_path) == 0);
	uint64_t before = hash_of(real_path);
	struct stat status;
	CHECK(tally, command("--fibers=4", "-o", link_path) == PMG_OK);
	CHECK(tally, lstat(link_path, &status) == 0 && S_ISLNK(status.st_mode));
	CHECK(tally, hash_of(real_path) != before && entries_in(folder) == 2);
	unlink(link_path);
	unlink(real_path);
}

int main(void)
{
	struct phantom_tally tally = { 0, 0 };
	char folder[] = "/tmp/phantom.XXXXXX";
	if (!mkdtemp(folder))
		return 1;
	test_bad_options(&tally);
	test_good_options(&tally);
	test_resources(&tally);
	test_file(&tally, folder);
	test_full_disk(&tally, folder);
	test_bad_paths(&tally, folder);
	rmdir(folder);
	return phantom_tally_close(&tally);
}
