/* SPDX-License-Identifier: MIT
 *
 * Modules for tests: one for each thing that a module can express. */
#include "ir/programs.h"

#include <stddef.h>
#include <string.h>

const struct ir_program ir_programs[] = {
	{ "blur",
	  "module blur\nsource \"blur.pmg\"\nparam n\n"
	  "array x : in f64[0..n]\n"
	  "array twice : temp f64[1..n - 1]\n"
	  "array y : out f64[0..n]\n"
	  "prologue\n"
	  "group 0 \"twice\" common 1\n"
	  "  stage 0\n    for i in 1..n - 1\n    twice[i] = x[i - 1] + 2.0 * x[i] + x[i + 1]\n"
	  "group 1 \"y\" common 1\n"
	  "  stage 1\n    for i in 0..n\n    where i == 0 or i == n - 1\n    y[i] = x[i]\n"
	  "  stage 2\n    for i in 0..n\n    where i >= 1 and i < n - 1\n    y[i] = 0.25 * twice[i]\n" },
	{ "never",
	  "module never\nsource \"never.pmg\"\nparam n\n"
	  "array v : in f64[0..n]\n"
	  "array z : out f64[0..n]\n"
	  "prologue\n"
	  "group 0 \"z\" common 1\n"
	  "  stage 0\n    for i in 0..n\n    where i >= n\n    z[i] = v[i]\n"
	  "  stage 1\n    for i in 0..n\n    where i < n\n    z[i] = 2.0 * v[i]\n"
	  "group 1 \"z\" common 2\n"
	  "  stage 2\n    for i in 0..n\n    for j in i..i\n    z[i] += v[j]\n" },
	{ "csr",
	  "module csr\nsource \"spmv.pmg\"\nparam nRows\nparam nCols\nparam nnz\n"
	  "array off : fixed in i64[0..nRows + 1] offsets(nnz)\n"
	  "array col : fixed in i64[0..nnz] index(nCols)\n"
	  "array val : fixed in f64[0..nnz]\n"
	  "array x : in f64[0..nCols]\n"
	  "array y : out f64[0..nRows]\n"
	  "array sum2 : local f64[] group 0\n"
	  "prologue\n"
	  "group 0 \"y\" common 1\n"
	  "  stage 0 init\n    for i in 0..nRows\n    sum2[] = 0.0\n"
	  "  stage 1\n    for i in 0..nRows\n    let lo = off[i]\n    let hi = off[i + 1]\n    for k in lo..hi\n"
	  "    let c = col[k]\n    sum2[] += val[k] * x[c]\n"
	  "  stage 2\n    for i in 0..nRows\n    y[i] = sum2[]\n" },
	{ "dsc",
	  "module dsc\nsource \"life.pmg\"\nparam nAtoms\nparam nVoxels\nparam nFibers\nparam nTheta\nparam nCoeffs\n"
	  "array PHI.atom : fixed in i32[0..nCoeffs] index(nAtoms)\n"
	  "array PHI.voxel : fixed in i32[0..nCoeffs] index(nVoxels)\n"
	  "array PHI.fiber : fixed in i32[0..nCoeffs] index(nFibers)\n"
	  "array PHI.value : fixed in f64[0..nCoeffs]\n"
	  "array D : fixed in f64[0..nAtoms, 0..nTheta]\n"
	  "array w : in f64[0..nFibers]\n"
	  "array Y : out f64[0..nVoxels, 0..nTheta]\n"
	  "prologue\n"
	  "group 0 \"Y\" common 2\n"
	  "  stage 0 init\n    for v in 0..nVoxels\n    for t in 0..nTheta\n    Y[v, t] = 0.0\n"
	  "group 1 \"Y\" common 5\n"
	  "  stage 1\n    for k in 0..nCoeffs\n    let atom = PHI.atom[k]\n    let voxel = PHI.voxel[k]\n"
	  "    let fiber = PHI.fiber[k]\n    for t in 0..nTheta\n"
	  "    Y[voxel, t] += D[atom, t] * w[fiber] * PHI.value[k]\n" },
	{ "prefix",
	  "module prefix\nsource \"prefix.pmg\"\nparam n\n"
	  "array x : in f64[0..n]\narray s : out f64[0..n]\narray t : out f64[0..n]\n"
	  "prologue\n"
	  "group 0 \"s\" common 1 recurrence directions +\n"
	  "  stage 0\n    for i in 0..n\n    where i == 0\n    s[i] = x[i]\n"
	  "  stage 1\n    for i in 0..n\n    where i > 0\n    s[i] = s[i - 1] + x[i]\n"
	  "group 1 \"t\" common 1 recurrence directions -\n"
	  "  stage 2\n    for i in 0..n\n    where i == n - 1\n    t[i] = x[i]\n"
	  "  stage 3\n    for i in 0..n\n    where i < n - 1\n    t[i] = t[i + 1] + x[i]\n" },
	{ "tree",
	  "module tree\nsource \"tree.pmg\"\nparam n\n"
	  "array parent : fixed in i64[0..n] index(n) tree\n"
	  "array len : in f64[0..n]\narray up : out f64[0..n]\narray below : out f64[0..n]\n"
	  "array total : local f64[] group 1\n"
	  "prologue\n"
	  "group 0 \"up\" common 2 recurrence\n"
	  "  stage 0\n    for i in 0..n\n    let p = parent[i]\n    where p < 0\n    up[i] = 0.0\n"
	  "  stage 1\n    for i in 0..n\n    let p = parent[i]\n    where not p < 0\n    up[i] = up[p] + len[i]\n"
	  "group 1 \"below\" common 1 recurrence directions -\n"
	  "  stage 2 init\n    for i in 0..n\n    total[] = 0.0\n"
	  "  stage 3\n    for i in 0..n\n    for c in children parent[i]\n    total[] += len[c] + below[c]\n"
	  "  stage 4\n    for i in 0..n\n    below[i] = total[]\n" },
	{ "forest",
	  "module forest\nsource \"forest.pmg\"\nparam nSystems\nparam n\n"
	  "array F.parent : fixed in i64[0..n] tree segments F.offset\n"
	  "array F.offset : fixed in i64[0..nSystems + 1] offsets(n)\n"
	  "array x : in f64[0..n]\narray up : out f64[0..n]\narray largest : out f64[0..nSystems]\n"
	  "prologue\n"
	  "group 0 \"up\" common 2 recurrence\n"
	  "  stage 0\n    for k in 0..n\n    let p = F.parent[k]\n    where p < 0\n    up[k] = x[k]\n"
	  "  stage 1\n    for k in 0..n\n    let p = F.parent[k]\n    where p >= 0\n    up[k] = up[p] + x[k]\n"
	  "group 1 \"largest\" common 1\n"
	  "  stage 2 init\n    for s in 0..nSystems\n    largest[s] = -inf\n"
	  "group 2 \"largest\" common 4\n"
	  "  stage 3\n    for s in 0..nSystems\n    let b = F.offset[s]\n    let e = F.offset[s + 1]\n"
	  "    for k in b..e\n"
	  "    largest[s] max= x[k]\n" },
	{ "iterate",
	  "module iterate\nsource \"it.pmg\"\nparam n\nparam maxIter\nscalar tol : f64\ncounter it\n"
	  "array x : state f64[0..n]\narray x.next : next f64[0..n] of x\n"
	  "array change : state f64[]\narray change.next : next f64[] of change\n"
	  "array x0 : in f64[0..n]\narray y : out f64[0..n]\narray steps : out i64[]\n"
	  "array trace : out f64[0..maxIter]\n"
	  "loop it in 0..maxIter until change[] < tol\n"
	  "prologue\n"
	  "group 0 \"x\" common 1\n  stage 0 init\n    for i in 0..n\n    x[i] = x0[i]\n"
	  "group 1 \"change\" common 0\n  stage 1 init\n    change[] = inf\n"
	  "group 2 \"steps\" common 0\n  stage 2 init\n    steps[] = 0\n"
	  "group 3 \"trace\" common 1\n  stage 3 init\n    for i in 0..maxIter\n    trace[i] = 0.0\n"
	  "body\n"
	  "group 4 \"trace\" common 0\n  stage 4\n    where it % 2 == 0\n    trace[it] = change[]\n"
	  "group 5 \"next x\" common 1\n"
	  "  stage 5 init\n    for i in 0..n\n    x.next[i] = x[i]\n"
	  "group 6 \"next x\" common 1\n  stage 6\n    for i in 1..n\n    x.next[i] = 0.5 * (x[i] + x[i - 1])\n"
	  "group 7 \"next change\" common 0\n  stage 7 init\n    change.next[] = -inf\n"
	  "group 8 \"next change\" common 1\n  stage 8\n    for i in 0..n\n"
	  "    change.next[] max= abs(x.next[i] - x[i])\n"
	  "group 9 \"steps\" common 0\n  stage 9\n    steps[] += 1\n"
	  "group 10 \"x\" common 1\n  stage 10 commit\n    for i in 0..n\n    x[i] = x.next[i]\n"
	  "group 11 \"change\" common 0\n  stage 11 commit\n    change[] = change.next[]\n"
	  "epilogue\n"
	  "group 12 \"y\" common 1\n  stage 12\n    for i in 0..n\n    y[i] = x[i]\n" },
	{ "histogram",
	  "module histogram\nsource \"histogram.pmg\"\nparam n\nparam nBins\nscalar lo : f64\nassume nBins >= 1\n"
	  "array x : in f64[0..n]\narray bin : temp i64[0..n] index(nBins)\narray count : out i64[0..nBins]\n"
	  "prologue\n"
	  "group 0 \"bin\" common 1\n  stage 0\n    for i in 0..n\n    bin[i] = cast<i64>(floor(x[i] - lo))\n"
	  "group 1 \"count\" common 1\n  stage 1 init\n    for b in 0..nBins\n    count[b] = 0\n"
	  "group 2 \"count\" common 2\n  stage 2\n    for i in 0..n\n    let b = bin[i]\n    count[b] += 1\n" },
	{ "extremes",
	  "module extremes\nsource \"extremes.pmg\"\nparam n\n"
	  "array x : in f64[0..n]\narray smallest : out f64[]\narray largest : out f64[]\narray product : out f32[]\n"
	  "prologue\n"
	  "group 0 \"smallest\" common 0\n  stage 0 init\n    smallest[] = inf\n"
	  "  stage 1\n    for i in 0..n\n    smallest[] min= x[i]\n"
	  "group 1 \"largest\" common 0\n  stage 2 init\n    largest[] = -inf\n"
	  "  stage 3\n    for i in 0..n\n    largest[] max= x[i]\n"
	  "group 2 \"product\" common 0\n  stage 4 init\n    product[] = 1.0:f32\n"
	  "  stage 5\n    for i in 0..n\n    product[] *= cast<f32>(x[i])\n" },
	{ "names",
	  "module `for`\nsource \"say \\\"it\\\"\\\\.pmg\"\nparam `in`\nparam m = 96\n"
	  "array `where` : in f64[0..`in`]\narray i : inout f64[0..`in`, -2..m + 2]\n"
	  "array `odd name` : fixed in f64 as f32 [0..4]\n"
	  "prologue\n"
	  "group 0 \"odd\" common 1\n  stage 0\n    for `odd name` in 0..min(`in`, 4)\n"
	  "    i[0, 0] = cast<f64>(cast<f32>(`where`[`odd name`]) * -0.1:f32)\n"
	  "group 1 \"i\" common 2\n  stage 1\n    for i in 0..`in`\n    for i in max(-2, -m)..(m + 1) / 2\n"
	  "    i[$0, $1] += -(3.0) - (1.0 - -2.5e-300)\n"
	  "override of \"restructure\" subjects \"PHI\" \"X\" choice \"hybrid\""
	  " words \"voxel\" \"atom\" numbers 32 -1 used\n"
	  "override of \"blas\" choice \"off\"\n"
	  "decision \"parallel\" \"i\" \"serial\" \"parallel\" \"it carries\\na dependence\"\n" },
};

const int ir_n_programs = (int) (sizeof ir_programs / sizeof ir_programs[0]);

const char *ir_program(const char *name)
{
	for (int i = 0; i < ir_n_programs; i++)
		if (strcmp(ir_programs[i].name, name) == 0)
			return ir_programs[i].text;
	return NULL;
}
