#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `make demo-real`: from the scan that Debian's python3-dipy brings (10 x 10 x 10 voxels, 64 directions) to a pruned
# connectome. dipy makes the streamlines; pmg encodes, fits, evaluates and prunes.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_WAIT_POLICY=passive
build=${BUILD:-build}
folder=$(mktemp -d "${TMPDIR:-/tmp}/pmg-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT

data=$("${PYTHON:-python3}" scripts/demo_real.py "$folder/all.tck")
scan=(--dwi="$data/small_64D.nii" --bvals="$data/small_64D.bval" --bvecs="$data/small_64D.bvec")
"$build/pmg" life encode --tracks="$folder/all.tck" "${scan[@]}" -o "$folder/problem.h5" | sed "s|$folder/||"
printf '\n'
"$build/pmg" life fit "$folder/problem.h5" -o "$folder/w.txt" | tail -n +2
printf '\n'
"$build/pmg" life evaluate "$folder/problem.h5" "$folder/w.txt"
mkdir -p "$build/demo"
printf '\n'
"$build/pmg" life export "$folder/w.txt" --tracks="$folder/all.tck" --pruned="$build/demo/pruned.trk"
