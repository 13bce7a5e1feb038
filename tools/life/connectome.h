/* SPDX-License-Identifier: MIT
 *
 * `pmg life`: from a diffusion scan and a tractogram to weights of streamlines. encode makes a problem, M w = y with
 * M kept as (PHI, D); fit solves it; predict, evaluate, export and import are the steps around.
 *
 * Streamlines are kept in scanner space (RAS, mm), as all readers give them; an image maps its voxels there, voxel
 * centres at integers. Files are not trusted: each is read whole or refused, with the place where it goes wrong. */
#ifndef TOOLS_LIFE_CONNECTOME_H
#define TOOLS_LIFE_CONNECTOME_H

#include "formats/formats.h"

/* ---- tracks.c -------------------------------------------------------------- */

/* The grid of voxels that streamlines belong to. */
struct frame {
	bool is_known;
	int64_t extent[3];
	double to_mm[3][4];
};

extern const struct frame frame_of_one_voxel; /* of headers that need one, where none is known */

struct tracks {
	int64_t n, n_points;
	float *points;       /* [n_points, 3] */
	int64_t *offsets;    /* [n + 1] */
	int64_t points_capacity, capacity;
	int64_t n_left_over; /* points of the file that belong to no streamline */
	int64_t stated;      /* how many the header says there are; -1: it does not say */
	struct frame frame;
	bool has_data;       /* .trk: scalars of points or properties of streamlines */
};

/* Reads .tck, .trk or .trx, as the suffix says. */
bool tracks_read(struct tracks *tracks, const char *path, struct failure *failure);
void tracks_free(struct tracks *tracks);
bool tracks_have_format(const char *path, struct failure *failure); /* one of streamlines, as the suffix says */
/* Points are appended to the streamline that tracks_end finishes. */
bool tracks_point(struct tracks *tracks, const float *point, struct failure *failure);
bool tracks_end(struct tracks *tracks, struct failure *failure);
/* Writes those with is_kept, which have been read from a file, and, where the format has room, a number for each. */
bool tracks_write(const struct tracks *tracks, const char *from, const bool *is_kept, const double *numbers,
		  const char *path, struct failure *failure);
bool tracks_keep_data(const char *from, const char *to); /* from .trk to .trk, with all of the header */
bool tracks_have_grid(const char *path); /* the format tells of one: .trk and .trx */

/* ---- tck.c, trk.c, trx.c: one format each -------------------------------------- */

bool tck_read(struct tracks *tracks, const char *path, struct failure *failure);
bool trk_read(struct tracks *tracks, const char *path, struct failure *failure);
bool trx_read(struct tracks *tracks, const char *path, struct failure *failure);
bool tck_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure);
bool trk_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure);
bool trx_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure);
/* Copies the streamlines with is_kept of a file that has been read without failure, and all of its header. */
bool trk_prune(const char *from, const bool *is_kept, const double *numbers, const char *path,
	       struct failure *failure);

/* ---- image.c: NIfTI ------------------------------------------------------------ */

struct image {
	int64_t extent[3], n_volumes;
	double voxel_size[3];
	double to_mm[3][4];   /* voxel -> scanner */
	double to_voxel[3][4];
	double determinant;
};

/* False if there is no inverse. */
bool affine_invert(const double matrix[3][4], double inverse[3][4], double *determinant);
bool image_open(struct image *image, const char *path, struct failure *failure);
/* values[i * n_volumes + t]: the voxel number places[i] (the first axis the fastest) of volume t. */
bool image_gather(const struct image *image, const char *path, const int64_t *places, int64_t n, double *values,
		  struct failure *failure);

/* tracks.c: where both lie in scanner space. */
const char *tracks_place_text(const struct tracks *tracks, const struct image *image, char *text, size_t size);

/* ---- gradients.c ----------------------------------------------------------------- */

enum bvec_space { BVECS_VOXEL, BVECS_FSL, BVECS_SCANNER };

struct gradients {
	int64_t n, n_diffusion; /* volumes; those that are not b = 0 */
	double *bvals;          /* [n], in s/mm^2 */
	double largest_b;
	double *bvecs;          /* [n, 3], along the axes of voxels; 0 where b = 0 */
	bool *is_b0;            /* [n] */
	int32_t *shell;         /* [n], -1 where b = 0 */
	int32_t n_shells;
	double shell_b[64];     /* mean of each */
};

bool gradients_read(struct gradients *gradients, const char *bvals, const char *bvecs, const struct image *image,
		    enum bvec_space space, double threshold, double tolerance, struct failure *failure);
void gradients_free(struct gradients *gradients);

/* ---- sphere.c: directions of atoms --------------------------------------------------- */

struct sphere {
	int64_t n;
	double *vertices; /* [n, 3], unit vectors; a direction and its opposite are one */
	double *planes;   /* the same as [3, n] */
	int64_t grid;     /* made by sphere_grid; 0: not */
};

bool sphere_read(struct sphere *sphere, struct arena *arena, const char *path, struct failure *failure);
/* (n - 1) n + 1 directions: the pole, then n azimuths of n - 1 elevations each (Caiafa and Pestilli 2017). */
bool sphere_grid(struct sphere *sphere, int64_t n, struct failure *failure);
/* The vertex nearest to the unit vector, the first one of several; 0 for a vector of length 0. */
int32_t sphere_nearest(const struct sphere *sphere, const double *direction);
void sphere_free(struct sphere *sphere);

/* ---- problem.c: what encode makes and fit solves ------------------------------------------ */

struct problem {
	int64_t n_atoms, n_voxels, n_fibers, n_theta, n_coeffs;
	int32_t *atom, *voxel, *fiber; /* [n_coeffs] */
	double *value;                 /* [n_coeffs] */
	double *D;                     /* [n_atoms, n_theta] */
	double *y;                     /* [n_voxels, n_theta] */
	/* Where they are known, else NULL: */
	double *signal;                /* [n_voxels, n_theta]: as measured, y's mean and scale still in it */
	double *S0;                    /* [n_voxels] */
	double *orientations;          /* [n_atoms, 3] */
	double *bvals, *bvecs;         /* [n_theta], [n_theta, 3] */
	int32_t *voxel_coords;         /* [n_voxels, 3] */
};

bool problem_read(struct problem *problem, const char *path, struct failure *failure);
/* Of a group with D, y and what else is known, and a tensor (atom, voxel, fiber); takes their arrays. */
bool problem_assemble(struct problem *problem, struct content *group, struct content *phi, const char *path,
		      struct failure *failure);
/* A new file: what was there stays until the new one is whole, and nothing of it is left then. */
bool problem_write(const struct problem *problem, const char *path, struct failure *failure);
void problem_free(struct problem *problem);
/* False where there is nothing to fit, or a number is not finite. */
bool problem_check(const struct problem *problem, const char *path, struct failure *failure);
/* Reads and checks that which stands before its weights in a command. */
bool problem_open(struct problem *problem, const char *path, const char *weights, struct failure *failure);
const char *problem_object(int i); /* what in its file is its own; NULL: no more */
int64_t problem_bytes(const struct problem *problem);

/* ---- weights.c: a number for each fiber ---------------------------------------------------- */

/* Which of several signals: none is said, or there is one only. */
enum { SIGNAL_UNSAID = -1, SIGNAL_ALONE = -2 };

/* From any file of an array; NULL after a failure. Each is finite and not negative, and there are `n`; -1: any number,
 * which *n then is. Of weights of several signals those of number `signal`. */
double *weights_read(struct arena *arena, const char *text, int64_t signal, int64_t *n, struct failure *failure);
/* Text (as MRtrix takes it), .npy, .h5:/NAME or what else the suffix says. With signals, a row of n for each; 0: a
 * list. With `w` NULL it is only asked whether they have the shape that `text` states. */
bool weights_write(struct arena *arena, const char *text, const double *w, int64_t signals, int64_t n,
		   struct failure *failure);

/* ---- files.c: what a step reads and writes, asked about before anything is computed ------------------- */

enum file_use {
	READS_FILE,
	READS_ARRAY,    /* of an HDF5 file that object, or `inner` */
	READS_PROBLEM,  /* of an HDF5 file what makes a problem: other objects may be written */
	READS_STATE,    /* the state of the same run may be written there */
	WRITES_ARRAY,   /* these and all below are outputs */
	WRITES_PROBLEM,
	WRITES_TRACKS,
	WRITES_STATE,
	WRITES_ROWS     /* line by line to what is there, also to a pipe */
};

struct step_file {
	enum file_use use;
	const char *text;  /* as the user names it; NULL: there is none */
	const char *inner; /* of an array in HDF5 for which the text says none: its place; NULL: all of the file */
};

/* False after fail() where an output is an input or another output, has a format that is not written, or cannot be
 * written where it is to go. */
bool files_check(struct arena *arena, const struct step_file *files, int n, struct failure *failure);
/* Where an array will be written, in HDF5 as `inner` unless the text says where. */
bool output_target(struct arena *arena, const char *text, const char *inner, struct location *target,
		   struct failure *failure);

/* ---- signals.c: other signals of a problem's voxels than its own -------------------------------------- */

/* [n, n_voxels, n_theta], or one of them without the first; finite. To be freed; NULL after a failure. */
double *signals_read(struct arena *arena, const char *text, const struct problem *problem, int64_t *n,
		     struct failure *failure);
/* A dictionary without means explains none: tells the standard error of the first voxel whose row of `y`, [n, n_voxels,
 * n_theta], has one, beyond rounding. `text` is the option or file that it comes from. */
void signals_tell_mean(const struct problem *problem, const double *y, int64_t n, const char *command,
		       const char *text);
/* Makes number `signal` of a file, or its only one, the problem's y; what has been measured is unknown then. */
bool signals_take(struct arena *arena, const char *text, int64_t signal, struct problem *problem,
		  struct failure *failure);

/* ---- request.c: values of options that several steps have ------------------------------------ */

/* One of the words of a list that ends with NULL; -1 after fail(). */
int take_word(const char *option, const char *word, const char *const *words, struct failure *failure);
bool take_real(const char *option, const char *text, double *value, struct failure *failure); /* 0 or more */

/* ---- encode.c ----------------------------------------------------------------------- */

enum convention { CONVENTION_DIPY, CONVENTION_ENCODE };

struct encode_options {
	enum convention convention;
	double eigenvalues[2];  /* axial, radial; in mm^2/s for dipy, um^2/ms for encode */
	bool is_cornered;       /* a voxel begins at its integer, instead of lying around it */
	bool keeps_repeated;    /* points at the place of the one before are nodes, too */
	bool has_all_atoms;     /* also those that no coefficient has */
	int64_t min_points;
	int64_t max_memory;     /* bytes; 0: no limit */
};

/* b-values over this, times eigenvalues, are exponents. */
double tensor_scale(enum convention convention);

struct encode_counts {
	int64_t short_streamlines, repeated_points, outside_points, undirected_points, dark_voxels, empty_fibers;
};

bool encode(const struct tracks *tracks, const struct image *image, const char *image_path,
	    const struct gradients *gradients, const struct sphere *sphere, const struct encode_options *options,
	    struct problem *problem, struct encode_counts *counts, struct failure *failure);

/* ---- the commands ------------------------------------------------------------------ */

extern const struct command life_command; /* life.c */
extern const struct command life_encode_command, life_fit_command, life_predict_command, life_evaluate_command,
	life_export_command, life_import_command;

#endif
