# SPDX-License-Identifier: MIT
"""Schedule blocks of random programs: items of each verb, with each of its settings. Which of them a program can
have is for the compiler to say: what it refuses is left out by whoever compiles the program (build.c)."""

import re


def some(p, names, most):
    return ", ".join(p.rng.sample(names, min(len(names), p.rng.randint(1, most))))


def own(arrays):
    """Names of what the program keeps for itself, or of anything."""
    return [name for name, _, is_argument in arrays if not is_argument] or [arrays[0][0]]


def names(arrays):
    return [name for name, _, _ in arrays]


def targets(arrays, text):
    """Names of what is accumulated, or of anything."""
    found = re.findall(r"reduce (\w+)|(\w+)(?: : \w+\[[^\]]*\])? = Sparse_matvec", text)
    return [one or other for one, other in found] or names(arrays)


MODES = {"PHI": ["atom", "voxel", "fiber"], "PSI": ["left", "right", "last"], "S": ["si", "sj"], "Q": ["qi", "qj"]}


def tensor_of(p, text):
    return p.pick(*([name for name in MODES if re.search(rf"\b{name}\b", text)] or ["PHI"]))


def order_of(p, rank):
    return ", ".join(map(str, p.rng.sample(range(rank), rank)))


def restructure(p, _, text):
    tensor = tensor_of(p, text)
    modes = MODES[tensor]
    several = [f"hybrid({', '.join(p.rng.sample(modes, n))})" for n in range(2, len(modes) + 1)]
    return f"restructure {tensor} by " + p.pick(*modes, "none", "auto", *several, *several)


def partition(p, arrays, text):
    return f"partition {p.pick(*targets(arrays, text))} by " + p.pick(
        "parts", "chunks", "coeff_exclusive", "coeff", "private", "atomic", "auto", "row", *MODES[tensor_of(p, text)])


def of_tensor(verb):
    def write(p, _, text):
        tensor = tensor_of(p, text)
        return f"{verb} {tensor} by " + p.pick(*MODES[tensor], *MODES[tensor], "none", "auto")
    return write


def order(p, _, text):
    return "order " + p.pick("PHI by morton(voxel, XYZ)", "PHI by morton(atom, XY)", "PHI by none",
                             "S by morton(si, XYZ)", f"{tensor_of(p, text)} by auto")


def precision(p, _, text):
    found = [name for name in ("kept", "c", "a", "v", "A", "Dict", "Wide") if re.search(rf"\b{name}\[", text)]
    return f"precision {p.pick(*(found or ['a']))} : " + p.pick("f32", "f64top", "f64", "auto")


def fuse(p, arrays, _):
    chosen = p.rng.sample(names(arrays), min(len(arrays), p.rng.randint(2, 4)))
    if len(chosen) < 2 or p.rng.random() < 0.1:
        return p.pick("fuse off", "fuse auto")
    return "fuse " + ", ".join(chosen) + p.pick("", "", " (1)", " (2)")


def tile(p, arrays, _):
    deep = [array for array in arrays if array[1] > 2]
    name, rank, _ = p.rng.choice(deep if deep and p.rng.random() < 0.7 else arrays)
    n = p.rng.randint(1, rank) if p.rng.random() < 0.3 else rank
    sizes = ", ".join(str(p.rng.choice([1, 2, 3, 4, 8, 16, 32])) for _ in range(n))
    text = f"tile {name} ({sizes})"
    if p.rng.random() < 0.3 and len(arrays) > 1:
        text = f"fuse {p.pick(*[other for other in names(arrays) if other != name] or [name])}, {name}; {text}"
    return text


def inline(p, arrays, _):
    return "inline " + (p.pick("off", "auto") if p.rng.random() < 0.1 else some(p, own(arrays), 2))


def layout(p, arrays, _):
    deep = [array for array in arrays if array[1] > 2]
    name, rank, _ = p.rng.choice(deep if deep and p.rng.random() < 0.4 else arrays)
    form = p.pick("flat", "full", "interleave", "auto", f"interleave(block = {p.pick('2', '4', '8', '16')})",
                  f"order({order_of(p, rank)})", f"order({order_of(p, rank)})")
    return f"layout {name if 'order' in form else some(p, names(arrays), 2)} : {form}"


def algorithm(p, arrays, text):
    named = re.findall(r"^    (\w+)\[[^=]*= [^;]*\bpar\b|^    (\w+)\[[^=]*= [^;]*parent\b", text, flags=re.M)
    name = "x" if "x" in names(arrays) else p.pick(*[one or other for one, other in named] or names(arrays))
    return f"algorithm {name} : " + p.pick(
        "thomas", "cr", "pcr", "crpcr", "crpcr(rows = 4)", "pcr_thomas", "pcr_thomas(steps = 2)",
        "pcr_thomas(steps = 3)", "partition", "partition(rows = 4)", "stone", "level_batches", "chains", "hines",
        "auto")


def accumulate(p, arrays, text):
    return f"accumulate {p.pick(*targets(arrays, text))} : " + p.pick("f32", "f64", "auto")


def live(p, arrays, text):
    return f"live {p.pick(*targets(arrays, text))} : " + p.pick("off", "few", "on", "auto")


def blas(p, arrays, _):
    return "blas " + p.pick("off", "auto", "on", f"{p.rng.choice(arrays)[0]} : {p.pick('on', 'off', 'auto')}")


WRITERS = {"restructure": restructure, "partition": partition, "layout": layout, "algorithm": algorithm,
           "precision": precision, "accumulate": accumulate, "tile": tile, "fuse": fuse, "inline": inline, "blas": blas,
           "live": live, "renumber": of_tensor("renumber"), "premultiply": of_tensor("premultiply"), "order": order}


def once_each(items):
    """Of items with one verb those whose names no other has before."""
    seen = set()
    for item in items:
        asked = {(item.split()[0], name) for part in item.split("; ")
                 for name in re.findall(r"\w+", re.split(r" by | : | \(", part)[0])[1:]}
        if not asked & seen:
            yield item
        seen |= asked


def schedule(p, arrays, text):
    """A block, one item a line: of each program of the kind, else of half of the plain ones."""
    items = p.items
    if arrays and (p.kind == "items" or p.kind == "plain" and p.rng.random() < 0.5):
        verbs = list(WRITERS)
        sparse = ["restructure", "partition", "renumber", "premultiply", "order", "precision"]
        verbs += sparse if re.search(r"\b(PHI|PSI|S|Q)\b", text) else ["fuse", "tile", "inline", "layout"]
        verbs += ["algorithm", "layout"]*2*(" x :" in text)
        chosen = [p.rng.choice(verbs) for _ in range(p.rng.randint(1, 5 if p.kind == "items" else 3))]
        written = [WRITERS[verb](p, arrays, text) for verb in chosen]
        items += "".join(f"        {item};\n" for item in once_each(written))
    is_shown = p.kind != "cuda" and (items or p.rng.random() < 0.05)
    return f"    schedule {{\n{items}    }}\n" if is_shown else ""
