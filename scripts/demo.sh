#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `make demo`: both LiFE products on a made-up connectome of more than a million coefficients. Each is compiled, run,
# and compared with the interpreter; the two must then be adjoint to each other: <M w, y> = <w, M' y>.
#
# The folder of all files goes away at the end. BUILD is the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=$(mktemp -d "${TMPDIR:-/tmp}/pmg-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT
brain=$folder/brain.h5

attempt() # what for, file for its output, command
{
	local what=$1 log=$2
	shift 2
	"$@" > "$log" 2>&1 && return
	echo "demo: $what failed: $*" >&2
	cat "$log" >&2
	exit 1
}

# The last line that begins with `name`, its word number n.
word() # log, name, n
{
	awk -v name="$2" -v n="$3" '$1 == name { value = $n } END { print value }' "$folder/$1.log"
}

milliseconds() # command
{
	local start
	start=$(date +%s%N)
	"$@"
	echo $((($(date +%s%N) - start) / 1000000))
}

# Compiles a program by itself for the time, then runs it on the connectome.
product() # program, arguments of pmg run
{
	milliseconds "$build/pmgc" "dsl_examples/$1.pmg" -o "$folder/$1.c" > "$folder/$1.pmgc"
	attempt "$1" "$folder/$1.log" "$build/pmg" run "dsl_examples/$1.pmg" PHI="$brain" D="$brain" \
		voxel_coords="$brain" --repeat=5 --time --compare --explain "${@:2}"
}

row() # program, output
{
	awk -v program="$1" -v output="$2" -v compiler="$(cat "$folder/$1.pmgc")" '
		$1 == "plan" { plan = $2; run = $5 }
		$1 == "difference" { comparing = 1 }
		$1 == "output" { comparing = 0 }
		comparing && $1 == output { absolute = $2; share = $5 }
		END { printf "%-10s %9d %9.1f %9.1f %13s %13s\n", program, compiler, plan, run, absolute, share }
	' "$folder/$1.log"
}

decisions() # program
{
	awk -v program="$1" '$0 == program { on = 1; next } !/^  / { on = 0 } on' "$folder/$1.log" |
		sed -E 's/ *\[[^]]*\]$//'
}

attempt 'the phantom' "$folder/phantom.log" "$build/pmg" phantom life -o "$brain"
product life_dsc w="$brain:/w_true" -o Y="$folder/Mw.npy"
product life_wc Y="$brain:/y" -o w="$folder/Mty.npy"
attempt adjoint "$folder/adjoint.log" "$build/pmg" run dsl_examples/adjoint.pmg Mw="$folder/Mw.npy" y="$brain" \
	w="$brain:/w_true" Mty="$folder/Mty.npy"
attempt inspect "$folder/inspect.log" "$build/pmg" inspect "$brain:/PHI"

printf 'A connectome made up:'
for size in nCoeffs nVoxels nFibers nAtoms nTheta; do
	printf ' %s = %s' "$size" "$(sed -n "s/.*attribute $size = //p" "$folder/inspect.log")"
done
printf '\n\n%-10s %9s %9s %9s %13s %13s\n' product pmgc,\ ms plan,\ ms run,\ ms 'error' 'of the bound'
row life_dsc Y
row life_wc w
echo "Runs: median of 5 on $(nproc) processors."
echo "Error: largest difference to the interpreter; bound: (64 + n) eps sum |terms|, of n terms."
printf '\nAdjoint identity: <M w, y> = %s, <w, M'"'"' y> = %s, relative difference %s\n' \
	"$(word adjoint left 4)" "$(word adjoint right 4)" "$(word adjoint difference 4)"
for program in life_dsc life_wc; do
	printf '\nDecisions for %s\n' "$program"
	decisions "$program"
done

awk '$1 == "difference" { bad = !($4 <= 1e-12) } END { exit bad }' "$folder/adjoint.log" || {
	echo 'demo: the products are not adjoint to each other' >&2
	exit 1
}

BUILD=$build scripts/demo_fit.sh
