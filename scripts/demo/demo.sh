#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `make demo`: both LiFE products on a connectome phantom of more than a million coefficients. Compiles the two
# specifications, shows what was decided, runs the products against the reference interpreter, and checks the
# adjoint identity <M w, y> = <w, M' y>. Fails if anything does not hold.

set -eu
cd "$(dirname "$0")/../.."
pmgc=$BUILD/pmgc pmg=$BUILD/pmg
folder=$(mktemp -d "${TMPDIR:-/tmp}/pmg-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT
problem=$folder/problem.h5

say() { printf '\n== %s\n' "$1"; }
pmgc_milliseconds() # FILE: the compiler's own time
{
	local start end
	start=$(date +%s%N)
	"$pmgc" "$1" -o "$folder/$(basename "$1" .pmg)"
	end=$(date +%s%N)
	echo "$(((end - start) / 1000000)) ms"
}

say 'A phantom: smooth fibers in an ellipsoidal white matter, encoded as a sparse tensor PHI and a dictionary D'
"$pmg" phantom life --scale 0.06 -o "$problem"
coefficients=$("$pmg" inspect "$problem" | sed -n 's/.*nCoeffs[ =]*\([0-9]*\).*/\1/p' | head -1)

say 'The specifications, compiled to OpenMP C; every decision and its reason'
for name in life_dsc life_wc; do
	printf '%s.pmg -> %s.c: %s\n' "$name" "$name" "$(pmgc_milliseconds dsl_examples/$name.pmg)"
	"$pmgc" --explain dsl_examples/$name.pmg -o "$folder/$name"
done

say 'y = M w (DSC), generated code against the interpreter'
"$pmg" run dsl_examples/life_dsc.pmg PHI="$problem:/PHI" D="$problem:/D" w="$problem:/w" \
	-o Y="$folder/Mw.npy" --repeat 10 --compare

say "w = M' y (WC), generated code against the interpreter"
"$pmg" run dsl_examples/life_wc.pmg PHI="$problem:/PHI" D="$problem:/D" Y="$problem:/y" \
	-o w="$folder/Mty.npy" --repeat 10 --compare

say "The adjoint identity <M w, y> = <w, M' y>"
"$pmg" run scripts/demo/adjoint.pmg Mw="$folder/Mw.npy" z="$problem:/y" w="$problem:/w" Mtz="$folder/Mty.npy" \
	-o difference="$folder/difference.txt"
difference=$(cat "$folder/difference.txt")
printf '\n%s coefficients; relative difference of the two products: %s\n' "$coefficients" "$difference"
awk -v d="$difference" 'BEGIN { exit !(d < 1e-12) }' || { echo 'The identity does not hold.' >&2; exit 1; }
