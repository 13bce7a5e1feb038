/* SPDX-License-Identifier: MIT
 *
 * What other software keeps of a LiFE model, as the parts of a problem. An importer gives what it finds; what is not
 * found is for options to give, and problem_assemble checks the whole. */
#ifndef TOOLS_LIFE_IMPORT_H
#define TOOLS_LIFE_IMPORT_H

#include "life/connectome.h"

struct parts {
	struct content phi;   /* a tensor (atom, voxel, fiber) */
	struct content group; /* members that problem_assemble knows */
	struct content matrix; /* a tensor (row, column): an explicit M, which needs y to be understood */
};

void parts_free(struct parts *parts);
/* Moves an array to the group; one that is there already stays. */
bool parts_put(struct parts *parts, const char *name, struct ndarray *array, struct failure *failure);
/* [n, 1] and [1, n] are lists. */
void as_list(struct ndarray *array);
bool transpose(struct ndarray *matrix, struct failure *failure);

/* ---- import_arrays.c: a sparse tensor, a sparse matrix, or plain arrays ------------------- */

/* True with `*is_other`: there is nothing of that kind. */
bool import_arrays(const struct location *location, int64_t base, struct parts *parts, bool *is_other,
		   struct failure *failure);
/* False after fail() where --one-based would change nothing. */
bool import_counts_itself(const char *path, bool is_one_based, struct failure *failure);
bool tensor_of_lists(struct content *phi, const struct ndarray *sizes, int64_t base, const char *path,
		     struct failure *failure);
/* With y [voxels, directions] in the group, parts->matrix becomes D and PHI: an atom for each fiber in each voxel. */
bool import_matrix(struct parts *parts, const char *path, struct failure *failure);

/* ---- import_fe.c: ENCODE's structure ---------------------------------------------------------- */

bool import_fe(struct arena *arena, const struct location *location, bool has_y, bool has_dictionary,
	       struct parts *parts, struct failure *failure);

/* ---- import_commit.c: a folder of COMMIT's dictionary ----------------------------------------- */

struct commit_kernels {
	struct ndarray wmr, wmh, iso; /* [radii, directions, samples], the same, [kinds, samples]; data NULL: none */
};

/* Needs y in the group, and gives D and PHI. */
bool import_commit(struct arena *arena, const char *folder, struct commit_kernels *kernels, struct parts *parts,
		   struct failure *failure);

#endif
