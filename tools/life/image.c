/* SPDX-License-Identifier: MIT
 *
 * NIfTI-1 and -2, plain or gzip: where voxels are, from the sform, else the qform, and the values of some voxels in
 * all volumes. libnifti runs in a child with limits, which sends the header, then volume after volume. */
#include <errno.h>
#include <math.h>
#include <nifti2_io.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hdf5_private.h"
#include "life/connectome.h"

enum { HEADER_NUMBERS = 20 };

struct request {
	bool has_volumes;
};

struct gathering {
	const struct image *image;
	const int64_t *places;
	int64_t n, volume;
	double *values;
	double header[HEADER_NUMBERS];
	bool has_header;
};

/* ---- In the child ------------------------------------------------------------------------- */

static void send_header(struct hdf5_child *child, const nifti_image *image)
{
	double header[HEADER_NUMBERS] = { (double) image->nx, (double) image->ny, (double) image->nz,
					  (double) image->nvox };
	bool has_form = image->sform_code > 0 || image->qform_code > 0;
	for (int row = 0; row < 3 && has_form; row++)
		for (int column = 0; column < 4; column++)
			header[4 + 4 * row + column] = image->sform_code > 0 ? image->sto_xyz.m[row][column]
									     : image->qto_xyz.m[row][column];
	header[16] = has_form;
	child_send(child, &(struct record){ .kind = RECORD_ARRAY, .type = PMG_F64, .rank = 1,
					    .shape = { HEADER_NUMBERS }, .name = "header" },
		   NULL);
	child_send(child, &(struct record){ .kind = RECORD_DATA, .bytes = sizeof(header) }, header);
}

#define CONVERT(type)                                                                                                  \
	for (int64_t i = 0; i < n; i++) {                                                                              \
		type value;                                                                                            \
		memcpy(&value, (const char *) raw + (size_t) i * sizeof(type), sizeof(type));                          \
		values[i] = (double) value;                                                                            \
	}                                                                                                              \
	return true

static bool convert(int datatype, const void *raw, int64_t n, double *values)
{
	switch (datatype) {
	case DT_UINT8:
		CONVERT(uint8_t);
	case DT_INT8:
		CONVERT(int8_t);
	case DT_INT16:
		CONVERT(int16_t);
	case DT_UINT16:
		CONVERT(uint16_t);
	case DT_INT32:
		CONVERT(int32_t);
	case DT_UINT32:
		CONVERT(uint32_t);
	case DT_FLOAT32:
		CONVERT(float);
	case DT_FLOAT64:
		CONVERT(double);
	default:
		return false;
	}
}

static void send_volume(struct hdf5_child *child, const nifti_image *image, znzFile file, void *raw, double *values)
{
	int64_t n = image->nx * image->ny * image->nz;
	size_t bytes = (size_t) n * (size_t) image->nbyper;
	errno = 0;
	if (znzread(raw, 1, bytes, file) != bytes)
		child_fail_system(child, errno, "its data", "the file ends in the middle of them");
	if (image->swapsize > 1 && image->byteorder != nifti_short_order())
		nifti_swap_Nbytes(n * image->nbyper / image->swapsize, image->swapsize, raw);
	if (!convert(image->datatype, raw, n, values))
		child_fail(child, OUTCOME_DATA, "its type", "not one of real numbers");
	if (isfinite(image->scl_slope) && image->scl_slope != 0)
		for (int64_t i = 0; i < n; i++)
			values[i] = values[i] * image->scl_slope + image->scl_inter;
	child_send(child, &(struct record){ .kind = RECORD_ARRAY, .type = PMG_F64, .rank = 1, .shape = { n },
					    .name = "volume" },
		   NULL);
	child_send(child, &(struct record){ .kind = RECORD_DATA, .bytes = (uint64_t) n * sizeof(double) }, values);
}

static void send_volumes(struct hdf5_child *child, const nifti_image *image)
{
	int64_t n = image->nx * image->ny * image->nz, n_volumes = n > 0 ? image->nvox / n : 0;
	void *raw = malloc((size_t) n * (size_t) image->nbyper + 1);
	double *values = malloc((size_t) n * sizeof(double) + 1);
	if (!raw || !values)
		child_fail(child, OUTCOME_RESOURCES, "a volume", "it needs more memory than its file is allowed");
	errno = 0;
	znzFile file = znzopen(image->iname, "rb", nifti_is_gzfile(image->iname));
	if (znz_isnull(file) || znzseek(file, (long) image->iname_offset, SEEK_SET) < 0)
		child_fail_system(child, errno, "its data", "they cannot be read");
	for (int64_t t = 0; t < n_volumes; t++)
		send_volume(child, image, file, raw, values);
	Xznzclose(&file);
	free(raw);
	free(values);
}

static void read_image(struct hdf5_child *child)
{
	const struct request *request = child->request;
	nifti_set_debug_level(0);
	/* The library prints some mistakes whatever the level is; all are told through the pipe. */
	if (!freopen("/dev/null", "we", stderr))
		child_fail(child, OUTCOME_IO, "/dev/null", "cannot be opened");
	errno = 0;
	nifti_image *image = nifti_image_read(child->path, 0);
	if (!image)
		child_fail_system(child, errno, "byte 0", "not a NIfTI file that can be opened");
	if (image->nx < 1 || image->ny < 1 || image->nz < 1 || image->nvox < 1 || image->nbyper < 1)
		child_fail(child, OUTCOME_DATA, "its header", "a size is not positive");
	send_header(child, image);
	if (request->has_volumes)
		send_volumes(child, image);
	nifti_image_free(image);
}

/* ---- In the parent ---------------------------------------------------------------------------- */

static bool take_header(struct gathering *gathering, const struct ndarray *array)
{
	if (ndarray_count(array) != HEADER_NUMBERS || gathering->has_header)
		return false;
	memcpy(gathering->header, array->data, sizeof(gathering->header));
	return gathering->has_header = true;
}

static bool take_volume(struct gathering *gathering, const struct ndarray *array)
{
	const struct image *image = gathering->image;
	int64_t n = ndarray_count(array);
	if (!gathering->values || gathering->volume >= image->n_volumes ||
	    n != image->extent[0] * image->extent[1] * image->extent[2])
		return false;
	for (int64_t i = 0; i < gathering->n; i++)
		gathering->values[i * image->n_volumes + gathering->volume] =
			((const double *) array->data)[gathering->places[i]];
	gathering->volume++;
	return true;
}

static bool accept_part(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	struct gathering *gathering = parent->user;
	struct ndarray array = { 0 };
	if (record->kind != RECORD_ARRAY || record->type != PMG_F64 || record->rank != 1)
		return fail_file(failure, parent->path, "the process that reads the file sends nonsense");
	bool ok = hdf5_receive(parent, record, &array, failure);
	if (ok && !(strcmp(record->name, "header") == 0 ? take_header(gathering, &array)
							: take_volume(gathering, &array)))
		ok = fail_file(failure, parent->path, "it changes while it is read");
	ndarray_free(&array);
	return ok;
}

static bool run_child(struct gathering *gathering, const char *path, bool has_volumes, struct failure *failure)
{
	struct request request = { .has_volumes = has_volumes };
	struct hdf5_child child = {
		.path = path, .is_limited = true, .work = read_image, .request = &request, .library = "NIfTI"
	};
	struct hdf5_parent parent = { .accept = accept_part, .user = gathering };
	return hdf5_run(&child, &parent, failure) &&
	       (gathering->has_header || fail_file(failure, path, "the process that reads the file sends nonsense"));
}

/* ---- Space ------------------------------------------------------------------------------------- */

/* The adjugate over the determinant. */
bool affine_invert(const double m[3][4], double inverse[3][4], double *determinant)
{
	double cofactor[3][3];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
			cofactor[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
		}
	*determinant = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
	if (!isfinite(*determinant) || fabs(*determinant) < 1e-12)
		return false;
	for (int i = 0; i < 3; i++) {
		inverse[i][3] = 0;
		for (int j = 0; j < 3; j++) {
			inverse[i][j] = cofactor[j][i] / *determinant;
			inverse[i][3] -= inverse[i][j] * m[j][3];
		}
	}
	return isfinite(inverse[0][3]) && isfinite(inverse[1][3]) && isfinite(inverse[2][3]);
}

static void take_space(struct image *image, const double *header)
{
	for (int i = 0; i < 3; i++) {
		image->extent[i] = (int64_t) header[i];
		for (int j = 0; j < 4; j++)
			image->to_mm[i][j] = header[4 + 4 * i + j];
	}
	image->n_volumes = (int64_t) header[3] / (image->extent[0] * image->extent[1] * image->extent[2]);
	for (int j = 0; j < 3; j++)
		image->voxel_size[j] = sqrt(image->to_mm[0][j] * image->to_mm[0][j] +
					    image->to_mm[1][j] * image->to_mm[1][j] +
					    image->to_mm[2][j] * image->to_mm[2][j]);
}

bool image_open(struct image *image, const char *path, struct failure *failure)
{
	struct gathering gathering = { .image = image };
	*image = (struct image){ 0 };
	if (!run_child(&gathering, path, false, failure))
		return false;
	for (int i = 0; i < 4; i++)
		if (!(gathering.header[i] >= 1 && gathering.header[i] < 1e15))
			return fail_file(failure, path, "its header states a size of %g", gathering.header[i]);
	if (gathering.header[0] * gathering.header[1] * gathering.header[2] > (double) INT32_MAX)
		return fail_file(failure, path, "its header states more than 2^31 voxels");
	if (gathering.header[16] == 0)
		return fail_file(failure, path, "its header says neither by sform nor by qform where voxels are");
	take_space(image, gathering.header);
	return affine_invert((const double(*)[4]) image->to_mm, image->to_voxel, &image->determinant) ||
	       fail_file(failure, path, "the matrix of its sform (or qform) cannot be inverted");
}

bool image_gather(const struct image *image, const char *path, const int64_t *places, int64_t n, double *values,
		  struct failure *failure)
{
	struct gathering gathering = { .image = image, .places = places, .n = n, .values = values };
	return run_child(&gathering, path, true, failure) &&
	       (gathering.volume == image->n_volumes || fail_file(failure, path, "it changes while it is read"));
}
