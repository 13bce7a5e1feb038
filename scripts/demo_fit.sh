#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The end of `make demo`: a fit of a phantom whose true weights are known. How many of the true and of the false fibers
# are kept, as numbers and as a picture, build/demo/connectome.svg, and the objective by iteration, objective.svg beside
# it.
set -euo pipefail
export OMP_WAIT_POLICY=passive
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=$(mktemp -d "${TMPDIR:-/tmp}/pmg-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT
brain=$folder/brain.h5
picture=$build/demo/objective.svg

# Fibers by what they are and whether they are kept; weights as shares of the sum.
table() # true weights, weights
{
	paste "$1" "$2" | awk '
		{
			kind = $1 > 0
			n[kind]++
			sum += $2
			share[kind] += $2
			kept[kind] += $2 > 0
		}
		END {
			printf "%-13s %8s %8s %7s %9s\n", "", "fibers", "kept", "", "of weight"
			for (kind = 1; kind >= 0; kind--)
				printf "%-13s %8d %8d %6.1f%% %8.1f%%\n", kind ? "true fibers" : "false fibers",
					n[kind], kept[kind], 100*kept[kind]/n[kind], 100*share[kind]/sum
		}'
}

# Objective over its last value, less 1, on a logarithmic axis.
draw() # history
{
	awk -F, '
		function x(i) { return 70 + 520*i/last }
		function y(v) { return 20 + 280*(high - log(v)/log(10))/(high - low) }
		NR > 1 { iteration[++n] = $1; objective[n] = $2 }
		END {
			last = iteration[n]
			low = -8
			high = 4
			while (objective[1]/objective[n] - 1 < 10^(high - 1))
				high--
			print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"350\"" \
				" font-family=\"sans-serif\" font-size=\"12\">"
			print "<rect width=\"620\" height=\"350\" fill=\"white\"/>"
			for (d = low; d <= high; d++)
				printf "<path d=\"M70 %g H590\" stroke=\"#ddd\"/>" \
					"<text x=\"64\" y=\"%g\" text-anchor=\"end\">1e%d</text>\n", \
					y(10^d), y(10^d) + 4, d
			for (k = 0; k <= 4; k++)
				printf "<text x=\"%g\" y=\"318\" text-anchor=\"middle\">%d</text>\n", \
					x(k*last/4), k*last/4
			print "<text x=\"330\" y=\"340\" text-anchor=\"middle\">iterations</text>"
			print "<text x=\"18\" y=\"160\" text-anchor=\"middle\"" \
				" transform=\"rotate(-90 18 160)\">" \
				"objective over its last, less 1</text>"
			printf "<path fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\" d=\""
			for (i = 1; i < n; i++) {
				above = objective[i]/objective[n] - 1
				if (above < 10^low)
					break
				printf "%s%.1f %.1f", (i > 1 ? " L" : "M"), x(iteration[i]), y(above)
			}
			print "\"/>\n</svg>"
		}' "$1"
}

"$build/pmg" phantom life --scale=0.002 -o "$brain" > "$folder/phantom.log"
printf '\nA fit of a smaller one\n'
"$build/pmg" life fit "$brain" -o "$folder/w.txt" --history="$folder/history.csv" --tolerance=1e-4 --deterministic \
	2> "$folder/progress.log" | tail -n +2
"$build/pmg" convert "$brain:/w_true" "$folder/true.txt" > "$folder/convert.log"
"$build/pmg" life evaluate "$brain" "$folder/w.txt" | head -3
table "$folder/true.txt" "$folder/w.txt"
mkdir -p "$build/demo"
draw "$folder/history.csv" > "$picture"
echo "The objective by iteration: $picture"
"$build/pmg" convert "$brain:/PHI" "$folder/PHI.tns" --modes atom,voxel,fiber > "$folder/convert.log"
"$build/pmg" convert "$brain:/voxel_coords" "$folder/voxel_coords.txt" > "$folder/convert.log"
"${PYTHON:-python3}" scripts/demo_picture.py "$folder/PHI.tns" "$folder/voxel_coords.txt" "$folder/true.txt" \
	"$folder/w.txt" > "$build/demo/connectome.svg"
echo "The pruned connectome: $build/demo/connectome.svg"
