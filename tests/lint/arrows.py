# SPDX-License-Identifier: MIT
"""Who may include whom: the arrows of the architecture."""
import re

# Folder -> folders it may include besides itself.
ARROWS = {
    "compiler/driver": {"compiler/" + f for f in
                        "sema constructs passes codegen kernel/lower kernel syntax ir support".split()},
    "compiler/sema": {"compiler/constructs", "compiler/syntax", "compiler/ir", "compiler/support"},
    "compiler/constructs": {"compiler/support"},
    "compiler/passes": {"compiler/ir", "compiler/support"},
    "compiler/codegen": {"compiler/kernel/lower", "compiler/kernel", "compiler/ir", "compiler/support"},
    "compiler/kernel/lower": {"compiler/kernel", "compiler/support"},
    "compiler/kernel": {"compiler/support"},
    "compiler/syntax": {"compiler/support"},
    "compiler/ir": {"compiler/support"},
    "compiler/support": set(),
    "runtime": set(),
    "tools": {"compiler/driver", "compiler/ir", "compiler/support", "runtime"},
    "bench": {"tools", "compiler/driver", "compiler/ir", "compiler/support", "runtime"},
}
# What generated code computes and the interpreter models, and what both say of wrong data.
SHARED = {"tune/memory_policy.h", "pmgrt_storage.h", "words.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def folder_of(name):
    """The row of ARROWS that a file belongs to, or None."""
    return next((f for f in ARROWS if name.startswith(f + "/")), None)


def target_file(name, included, files):
    """The file that an include leads to, or None for one that is generated or a system's."""
    beside = name.rsplit("/", 1)[0] + "/" + included
    return next((f for f in (beside, "compiler/" + included, "runtime/" + included, "tools/" + included,
                             "bench/" + included) if f in files), None)


def target_of(name, included, files):
    """The folder that an include leads to, or None."""
    found = target_file(name, included, files)
    if found:
        return folder_of(found)
    return "compiler/syntax" if included.startswith("syntax/") else None


def include_arrows(tree):
    files = set(tree.files)
    for name in tree.select(".c", ".h", ".l", ".y", ".def", under=("compiler/", "runtime/", "tools/", "bench/")):
        folder = folder_of(name)
        for included in INCLUDE.findall(tree.text(name)):
            target = target_of(name, included, files)
            if folder and included not in SHARED and target and target != folder and target not in ARROWS[folder]:
                yield f"{name}: includes {included}; {folder} may not know {target}"


def includes_in_circles(tree):
    """No file includes itself by way of others."""
    files = set(tree.files)
    names = tree.select(".c", ".h", ".l", ".y", ".def", under=("compiler/", "runtime/", "tools/", "bench/"))
    below = {name: {target_file(name, i, files) for i in INCLUDE.findall(tree.text(name))} - {None} for name in names}
    for name in names:
        seen, left = set(), list(below[name])
        while left:
            at = left.pop()
            if at not in seen:
                seen.add(at)
                left += below.get(at, ())
        if name in seen:
            yield f"{name}: includes itself by way of others"


def isl_below(tree):
    """The kernel tree and its lowerings know nothing of schedules: they include nothing of isl."""
    for name in tree.select(".c", ".h", under=("compiler/kernel/", "compiler/support/", "compiler/syntax/")):
        for number, row in enumerate(tree.lines(name), 1):
            if re.match(r"\s*#\s*include\s*<isl/", row):
                yield f"{name}:{number}: includes isl"


def constructs_by_name(tree):
    """No pass, lowering, printer or part of the module knows a construct."""
    names = re.compile(r"PHI_Tensor|Sparse_matvec|\bHines|TriBatch|LiFE|\blife_")
    for name in tree.select(under=("compiler/passes/", "compiler/codegen/", "compiler/kernel/", "compiler/ir/")):
        for number, row in enumerate(tree.lines(name), 1):
            if names.search(row):
                yield f"{name}:{number}: names a construct"


def installed_headers(tree):
    """make install brings each header that generated code may include."""
    listed = re.findall(r"\w+\.h\b", tree.text("Makefile"))
    for name in tree.select(".h", under=("runtime/pmgrt",)):
        if name.rsplit("/", 1)[1] not in listed:
            yield f"Makefile: installs no {name}"


CHECKS = [include_arrows, includes_in_circles, isl_below, constructs_by_name, installed_headers]
