/* SPDX-License-Identifier: MIT
 *
 * A LiFE problem as an HDF5 file: the group /PHI with atom, voxel, fiber and value, and beside it /D, /y,
 * /w_true, /w, /S0, /directions and /voxel_coords. Sizes are attributes of /PHI; the options that made the
 * problem, of the root. Little-endian, contiguous, without filters and without times, so that equal problems
 * are equal files.
 *
 * The library writes in a process of its own: after a failed write, as on a full disk, release 1.10 leaks and
 * may crash when it tidies up. There its errors are not printed; the first one becomes ours. */
#include "phantom.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_TRIALS 100

/* `path` is where the file will be, `part` where it is written; links in "path" are followed. */
struct target {
	char path[PATH_MAX], part[PATH_MAX];
};

/* ---- The file's name --------------------------------------------------------------- */

static pmg_status fail(const char *path, const char *reason, char *error, size_t size)
{
	snprintf(error, size, "cannot write '%s': %s", path, reason);
	return PMG_IO;
}

static pmg_status fail_system(const char *path, char *error, size_t size)
{
	return fail(path, strerror(errno), error, size);
}

/* Makes an empty file of a new name in the folder of the target; -1 and errno on failure. */
static int create_part(struct target *target)
{
	for (int trial = 0; trial < NAME_TRIALS; trial++) {
		int n = snprintf(target->part, sizeof(target->part), "%s.part-%ld-%d", target->path,
				 (long) getpid(), trial);
		if (n < 0 || (size_t) n >= sizeof(target->part)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		int descriptor = open(target->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor >= 0 || errno != EEXIST)
			return descriptor;
	}
	return -1;
}

static pmg_status target_open(struct target *target, const char *path, char *error, size_t size)
{
	struct stat existing;
	if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
		return fail(path, "it exists and is not a regular file", error, size);
	if (!realpath(path, target->path)) {
		if (strlen(path) >= sizeof(target->path))
			return fail(path, "the name is too long", error, size);
		strcpy(target->path, path);
	}
	int descriptor = create_part(target);
	if (descriptor < 0)
		return fail_system(path, error, size);
	close(descriptor);
	return PMG_OK;
}

/* Gives the finished part its name, once it is on the disk. */
static pmg_status target_commit(const struct target *target, char *error, size_t size)
{
	int descriptor = open(target->part, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return fail_system(target->path, error, size);
	int result = fsync(descriptor);
	if (close(descriptor) != 0 || result != 0 || rename(target->part, target->path) != 0)
		return fail_system(target->path, error, size);
	return PMG_OK;
}

pmg_status life_problem_can_write(const char *path, char *error, size_t size)
{
	struct target target;
	pmg_status status = target_open(&target, path, error, size);
	if (status == PMG_OK)
		unlink(target.part);
	return status;
}

/* ---- Messages of the library --------------------------------------------------------- */

/* What the first failing call had to say; "" as long as none failed. */
struct complaint {
	char text[512];
};

static herr_t keep_innermost(unsigned n, const H5E_error2_t *entry, void *user)
{
	struct complaint *complaint = user;
	if (n == 0 && entry->desc)
		snprintf(complaint->text, sizeof(complaint->text), "%s", entry->desc);
	return 0;
}

/* Called by the library where it would print. */
static herr_t keep_first(hid_t stack, void *user)
{
	struct complaint *complaint = user;
	if (complaint->text[0] == '\0')
		H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, complaint);
	return 0;
}

/* Of a failed system call only the system's own words are kept. */
static const char *complaint_words(struct complaint *complaint)
{
	static const char system_words[] = "error message = '";
	char *words = strstr(complaint->text, system_words);
	char *start = words ? words + strlen(system_words) : complaint->text;
	char *end = words ? strchr(start, '\'') : NULL;
	if (end)
		*end = '\0';
	return *start ? start : "the HDF5 library gives no reason";
}

/* ---- Attributes and arrays -------------------------------------------------------------- */

static bool put_attribute(hid_t object, const char *name, hid_t stored, hid_t given, const void *value)
{
	hid_t space = H5Screate(H5S_SCALAR);
	hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
	bool ok = attribute >= 0 && H5Awrite(attribute, given, value) >= 0;
	if (attribute >= 0)
		ok = H5Aclose(attribute) >= 0 && ok;
	H5Sclose(space);
	return ok;
}

static bool put_integer(hid_t object, const char *name, int64_t value)
{
	return put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static bool put_real(hid_t object, const char *name, double value)
{
	return put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

static bool put_text(hid_t object, const char *name, const char *value)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	bool ok = type >= 0 && H5Tset_size(type, strlen(value)) >= 0 &&
		  H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && put_attribute(object, name, type, type, value);
	H5Tclose(type);
	return ok;
}

/* A list of properties of class "class" that keeps times out of the file. */
static hid_t timeless(hid_t class)
{
	hid_t properties = H5Pcreate(class);
	if (properties >= 0 && H5Pset_obj_track_times(properties, false) < 0) {
		H5Pclose(properties);
		return H5I_INVALID_HID;
	}
	return properties;
}

/* An array of rows of "columns" numbers, or of one dimension when "columns" is 0. */
static bool put_array(hid_t object, const char *name, hid_t stored, hid_t given, int64_t rows,
		      int64_t columns, const void *data)
{
	hsize_t shape[2] = { (hsize_t) rows, (hsize_t) columns };
	hid_t space = H5Screate_simple(columns > 0 ? 2 : 1, shape, NULL);
	hid_t properties = timeless(H5P_DATASET_CREATE);
	hid_t set = H5Dcreate2(object, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
	bool ok = set >= 0 && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
	if (set >= 0)
		ok = H5Dclose(set) >= 0 && ok;
	H5Pclose(properties);
	H5Sclose(space);
	return ok;
}

static bool put_indices(hid_t object, const char *name, int64_t rows, int64_t columns, const int32_t *data)
{
	return put_array(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, rows, columns, data);
}

static bool put_reals(hid_t object, const char *name, int64_t rows, int64_t columns, const double *data)
{
	return put_array(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rows, columns, data);
}

/* ---- The problem --------------------------------------------------------------------------- */

static bool put_options(hid_t file, const struct life_phantom_options *options)
{
	size_t n;
	const struct phantom_option *table = phantom_option_table(&n);
	bool ok = put_text(file, "made_by", "pmg phantom life") && put_integer(file, "version", 1);
	for (size_t i = 0; i < n && ok; i++) {
		const char *member = (const char *) options + table[i].offset;
		if (table[i].scope != PHANTOM_PROBLEM)
			continue;
		if (table[i].kind == PHANTOM_INTEGER)
			ok = put_integer(file, table[i].member, *(const int64_t *) member);
		else if (table[i].kind == PHANTOM_REAL)
			ok = put_real(file, table[i].member, *(const double *) member);
	}
	return ok;
}

static bool put_phi(hid_t file, const struct life_problem *problem)
{
	hid_t properties = timeless(H5P_GROUP_CREATE);
	hid_t group = H5Gcreate2(file, "PHI", H5P_DEFAULT, properties, H5P_DEFAULT);
	int64_t n = problem->n_coeffs;
	bool ok = group >= 0 && put_integer(group, "nAtoms", problem->n_atoms) &&
		  put_integer(group, "nVoxels", problem->n_voxels) &&
		  put_integer(group, "nFibers", problem->n_fibers) &&
		  put_integer(group, "nTheta", problem->n_theta) && put_integer(group, "nCoeffs", n) &&
		  put_integer(group, "index_base", 0) && put_text(group, "sorted_by", "atom,voxel,fiber") &&
		  put_indices(group, "atom", n, 0, problem->atom) &&
		  put_indices(group, "voxel", n, 0, problem->voxel) &&
		  put_indices(group, "fiber", n, 0, problem->fiber) &&
		  put_reals(group, "value", n, 0, problem->value);
	if (group >= 0)
		ok = H5Gclose(group) >= 0 && ok;
	H5Pclose(properties);
	return ok;
}

static bool put_problem(hid_t file, const struct life_problem *problem,
			const struct life_phantom_options *options)
{
	return put_options(file, options) && put_phi(file, problem) &&
	       put_reals(file, "D", problem->n_atoms, problem->n_theta, problem->D) &&
	       put_reals(file, "y", problem->n_voxels, problem->n_theta, problem->y) &&
	       put_reals(file, "w_true", problem->n_fibers, 0, problem->w_true) &&
	       put_reals(file, "w", problem->n_fibers, 0, problem->w) &&
	       put_reals(file, "S0", problem->n_voxels, 0, problem->S0) &&
	       put_reals(file, "directions", problem->n_theta, 3, problem->directions) &&
	       put_indices(file, "voxel_coords", problem->n_voxels, 3, problem->voxel_coords);
}

static bool write_part(const struct target *target, const struct life_problem *problem,
		       const struct life_phantom_options *options)
{
	hid_t properties = timeless(H5P_FILE_CREATE);
	hid_t file = H5Fcreate(target->part, H5F_ACC_TRUNC, properties, H5P_DEFAULT);
	bool ok = file >= 0 && put_problem(file, problem, options);
	if (file >= 0)
		ok = H5Fclose(file) >= 0 && ok;
	H5Pclose(properties);
	return ok;
}

/* ---- The writing process ----------------------------------------------------------------------- */

/* Writes the part, or a reason why not to "channel", and ends the process without any tidying. */
static void write_and_leave(const struct target *target, const struct life_problem *problem,
			    const struct life_phantom_options *options, int channel)
{
	struct complaint complaint = { "" };
	H5Eset_auto2(H5E_DEFAULT, keep_first, &complaint);
	if (write_part(target, problem, options))
		_exit(PMG_OK);
	const char *words = complaint_words(&complaint);
	ssize_t written = write(channel, words, strlen(words));
	_exit(written > 0 ? PMG_IO : PMG_INTERNAL);
}

/* All that comes through "channel" until it is closed, as far as it fits. */
static void receive(int channel, char *text, size_t size)
{
	size_t length = 0;
	ssize_t n;
	do {
		n = read(channel, text + length, size - 1 - length);
		length += n > 0 ? (size_t) n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	text[length] = '\0';
}

/* Waits for the process; what it says until it ends becomes "reason". */
static pmg_status await(pid_t child, int channel, char *reason, size_t size)
{
	int result = 0;
	receive(channel, reason, size);
	while (waitpid(child, &result, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(result) && WEXITSTATUS(result) == PMG_OK)
		return PMG_OK;
	if (reason[0] == '\0')
		snprintf(reason, size, "the process that writes it was stopped");
	return PMG_IO;
}

static pmg_status write_apart(const struct target *target, const struct life_problem *problem,
			      const struct life_phantom_options *options, char *reason, size_t size)
{
	int channel[2];
	pmg_status status = PMG_NO_RESOURCES;
	if (pipe2(channel, O_CLOEXEC) != 0) {
		snprintf(reason, size, "%s", strerror(errno));
		return status;
	}
	pid_t child = fork();
	if (child == 0)
		write_and_leave(target, problem, options, channel[1]);
	close(channel[1]);
	if (child > 0)
		status = await(child, channel[0], reason, size);
	else
		snprintf(reason, size, "%s", strerror(errno));
	close(channel[0]);
	return status;
}

pmg_status life_problem_write(const struct life_problem *problem, const struct life_phantom_options *options,
			      const char *path, char *error, size_t size)
{
	struct target target;
	char reason[600];
	pmg_status status = target_open(&target, path, error, size);
	if (status != PMG_OK)
		return status;
	status = write_apart(&target, problem, options, reason, sizeof(reason));
	if (status == PMG_OK)
		status = target_commit(&target, error, size);
	else
		fail(path, reason, error, size);
	if (status != PMG_OK)
		unlink(target.part);
	return status;
}
