/* SPDX-License-Identifier: MIT
 *
 * The name that was probably meant: edit distance with insertion, deletion, substitution and exchange of two
 * neighbours (the restricted Damerau-Levenshtein distance), in which letters of different case are equal.
 * A candidate is near when a third of the letters differ at most, of two letters the second; the first of equally
 * near ones wins. Where more than a letter differs, the only one that begins with the name does. */
#include "support/support.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63, SHORTEST_BEGIN = 4 };

static int fold(char c)
{
	return tolower((unsigned char) c);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Cost of cell (i, j) of the table, from the two rows before. */
static int cell_cost(const char *a, const char *b, int i, int j, int row[3][LONGEST + 1])
{
	int differ = fold(a[i - 1]) != fold(b[j - 1]);
	int cost = least(least(row[1][j] + 1, row[2][j - 1] + 1), row[1][j - 1] + differ);

	if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
		cost = least(cost, row[0][j - 2] + 1);
	return cost;
}

/* Moves the rows up by one and fills the last; its least cost. */
static int next_row(const char *a, const char *b, int m, int i, int row[3][LONGEST + 1])
{
	int lowest = i;

	memcpy(row[0], row[1], sizeof row[0]);
	memcpy(row[1], row[2], sizeof row[1]);
	row[2][0] = i;
	for (int j = 1; j <= m; j++) {
		row[2][j] = cell_cost(a, b, i, j, row);
		lowest = least(lowest, row[2][j]);
	}
	return lowest;
}

/* More than `most` stands for all that is more: what two rows exceed, later ones do. */
static int edit_distance(const char *a, const char *b, int most)
{
	int row[3][LONGEST + 1] = { 0 };
	int n = (int) strlen(a), m = (int) strlen(b), before = 0, lowest = 0;

	if (n - m > most || m - n > most)
		return most + 1;
	for (int j = 0; j <= m; j++)
		row[2][j] = j;
	for (int i = 1; i <= n && (before <= most || lowest <= most); i++) {
		before = lowest;
		lowest = next_row(a, b, m, i, row);
	}
	return before > most && lowest > most ? most + 1 : row[2][m];
}

static int furthest(const char *name, const char *candidate)
{
	size_t length = strlen(name);

	return length == 2 ? fold(name[0]) == fold(candidate[0]) : (int) length / 3;
}

static bool begins_with(const char *candidate, const char *name)
{
	while (*name && fold(*name) == fold(*candidate)) {
		name++;
		candidate++;
	}
	return !*name && *candidate;
}

static const char *only_longer(const char *name, const char *const *candidates, int n)
{
	const char *only = NULL;

	if (strlen(name) < SHORTEST_BEGIN)
		return NULL;
	for (int i = 0; i < n; i++) {
		if (!begins_with(candidates[i], name))
			continue;
		if (only)
			return NULL;
		only = candidates[i];
	}
	return only;
}

const char *suggest_nearest(const char *name, const char *const *candidates, int n)
{
	const char *nearest = NULL, *longer;
	size_t length = strlen(name);
	int least = 0;

	for (int i = 0; i < n && length <= LONGEST; i++) {
		int most = furthest(name, candidates[i]), distance;

		if (strlen(candidates[i]) > LONGEST || strcmp(candidates[i], name) == 0)
			continue;
		if (nearest && most >= least)
			most = least - 1;
		distance = edit_distance(name, candidates[i], most);
		if (distance > most)
			continue;
		nearest = candidates[i];
		least = distance;
	}
	longer = least == 1 ? NULL : only_longer(name, candidates, n);
	return longer ? longer : nearest;
}

const char *word_pair_find(const struct word_pair *pairs, size_t n, const char *foreign)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(foreign, pairs[i].foreign))
			return pairs[i].ours;
	return NULL;
}
