/* SPDX-License-Identifier: MIT
 *
 * HDF5 files are opened by a child process only: the library has been made to crash by files too often. Other
 * libraries that read files run in the same way. The child has limits on memory and time, and sends what it finds
 * through a pipe as records, which the parent checks as it checks any file. An array is announced by a record and
 * follows in pieces; a failure may come at any time; END comes last. */
#ifndef TOOLS_FORMATS_HDF5_PRIVATE_H
#define TOOLS_FORMATS_HDF5_PRIVATE_H

#include <hdf5.h>

#include "formats/streams.h"

#define HDF5_MAGIC 0x35474d50u
#define HDF5_PIECE_BYTES (8u << 20)

enum record_kind {
	RECORD_END,
	RECORD_GROUP,
	RECORD_ARRAY,
	RECORD_DATA,
	RECORD_ATTRIBUTE,
	RECORD_ENTRY,
	RECORD_FAILURE
};

struct record {
	uint32_t magic, kind;
	int32_t type, rank;
	int64_t shape[PMG_MAX_RANK]; /* ATTRIBUTE: shape[0] is the value; FAILURE: the outcome */
	uint64_t bytes;              /* DATA, FAILURE: that many follow */
	char name[NAME_BYTES], note[NAME_BYTES];
};

struct hdf5_child {
	const char *path; /* of the file */
	int64_t size;     /* of the file */
	bool is_limited;  /* the child reads, and gets limits on memory and time */
	void (*work)(struct hdf5_child *child);
	int pipe;
	const void *request; /* what `work` is to do */
	const char *library; /* that does the work; NULL: "HDF5" */
};

/* ---- hdf5_child.c: the parent's side -------------------------------------------------------- */

/* Runs `work` in a child and gives each record but DATA, FAILURE and END to `accept` (NULL: none is
 * expected), which reads an array with hdf5_receive. */
struct hdf5_parent {
	FILE *pipe;
	const char *path;
	int64_t left; /* bytes that the child may still send */
	bool (*accept)(struct hdf5_parent *parent, const struct record *record, struct failure *failure);
	void *user;
};

bool hdf5_run(struct hdf5_child *child, struct hdf5_parent *parent, struct failure *failure);
bool hdf5_receive(struct hdf5_parent *parent, const struct record *record, struct ndarray *array,
		  struct failure *failure);

/* ---- hdf5_object.c: the child's side -------------------------------------------------------- */

void child_send(struct hdf5_child *child, const struct record *record, const void *bytes);
/* Sends the failure and ends the child. With `reason` NULL: the innermost words of the library. */
void child_fail(struct hdf5_child *child, enum outcome outcome, const char *what, const char *reason)
	__attribute__((noreturn));
/* Of a library that has failed with `error` in errno: what the system refuses, else `damage` of the file. */
void child_fail_system(struct hdf5_child *child, int error, const char *what, const char *damage)
	__attribute__((noreturn));
/* From here on the library's errors are the child's failures. */
void child_listen(struct hdf5_child *child);
hid_t child_open(struct hdf5_child *child, unsigned access);
/* What an object is as a record, ENTRY for all that cannot be read, with the reason as its note. */
void object_describe(hid_t object, const char *name, struct record *record);
/* The type in memory of a dataset that can be read; the note says why it cannot. */
hid_t dataset_memory_type(hid_t set, struct record *record);

#endif
