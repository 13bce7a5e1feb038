/* SPDX-License-Identifier: MIT
 *
 * The programs of a folder, for tests that ask each of them the same. */
#ifndef PMGC_TESTS_SUPPORT_FOLDER_H
#define PMGC_TESTS_SUPPORT_FOLDER_H

/* Calls `visit` for each .pmg file of a folder, in the order of their names. NULL: they are only counted. Their number,
 * 0 if the folder cannot be read. */
int folder_each_program(const char *folder, void (*visit)(const char *path, void *user), void *user);

/* The same of every nth program, from this one on; with PMG_TEST_LONG of all. Their number. */
int folder_each_nth(const char *folder, int n, int first, void (*visit)(const char *path, void *user), void *user);

/* The part of a path behind the folder. */
const char *folder_name_of(const char *path);

#endif
