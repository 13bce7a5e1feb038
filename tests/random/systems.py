# SPDX-License-Identifier: MIT
"""Constructs whose results depend on rounding: systems over trees, forests and chains, in both precisions, with shared
and scalar diagonals and with right-hand sides. Diagonals are dominant, whatever the tree is."""

INPUTS = "".join(f"""    in {s}diagonal : {t}[n, m];
    in {s}left, {s}right : {t}[n, m];
    in {s}sides : {t}[n, m, 2];
    in {s}shared : {t}[m];
    in {s}ragged, {s}other : {t}[p];
    in {s}pairs : {t}[p, 2];
    in {s}cube : {t}[n, 2, m];
""" for s, t in (("q", "f64"), ("g", "f32"))) + "    fixed in T : Tree(m);\n"


def tree(p, s, t):
    p.add(f"temp big{s} : {t}[n, m] = 12 + 4*m + abs({s}diagonal);")
    upper, lower = p.pick((f"{s}left", f"{s}right"), (f"{s}shared", f"{s}shared"), (f"{s}left", f"{s}left"))
    return "[n, m]", f"HinesSystem(T, {upper}, {lower}, big{s}, {s}right)"


def tree_sides(p, s, t):
    p.add(f"temp big{s} : {t}[n, m] = 12 + 4*m + abs({s}diagonal);")
    return "[n, m, 2]", f"HinesSystem(T, {s}shared, {s}shared, big{s}, {s}sides)"


def forest(p, s, t):
    p.add(f"temp big{s} : {t}[p] = 30 + 4*p + abs({s}other);")
    return "[p]", f"HinesSystem(G, {s}ragged, {s}other, big{s}, {s}ragged)"


def forest_sides(p, s, t):
    p.add(f"temp big{s} : {t}[p] = 30 + 4*p + abs({s}other);")
    return "[p, 2]", f"HinesSystem(G, {s}ragged, {s}other, big{s}, {s}pairs)"


def chains(p, s, t):
    p.add(f"temp big{s} : {t}[n, m] = 8 + abs({s}diagonal);")
    a, c = p.pick((f"{s}left", f"{s}right"), ("1.0", f"{s}right"), (f"{s}left", "-1.0"), ("2.0", "1.0"))
    return "[n, m]", f"TriBatch({a}, {p.pick(f'big{s}', f'big{s}', '9.0')}, {c}, {s}right)"


def chains_sides(p, s, t):
    p.add(f"temp big{s} : {t}[n, m] = 8 + abs({s}diagonal);")
    return "[n, m, 2]", f"TriBatch({s}left, big{s}, {p.pick('1.0', f'{s}right')}, {s}sides)"


def one_chain(p, s, t):
    p.add(f"temp big{s} : {t}[m] = 8 + abs({s}shared);")
    return "[m]", f"TriBatch({s}shared, big{s}, 1.0, {s}shared)"


def cubes(p, s, t):
    p.add(f"temp big{s} : {t}[n, 2, m] = 8 + abs({s}cube);")
    return "[n, 2, m]", f"TriBatch({s}cube, big{s}, {s}cube, {s}cube)"


def segments(p, s, t):
    p.add(f"temp big{s} : {t}[p] = 8 + abs({s}ragged);")
    return "[p]", f"TriBatch({s}other, big{s}, {s}ragged, {s}other, off)"


def segments_sides(p, s, t):
    p.add(f"temp big{s} : {t}[p] = 8 + abs({s}ragged);")
    return "[p, 2]", f"TriBatch({s}other, big{s}, {s}ragged, {s}pairs, off)"


def in_place(p, s, t):
    p.add(f"temp big{s} : {t}[n, m] = 8 + abs({s}diagonal);")
    p.declarations.append(f"    inout x : {t}[n, m];")
    p.loop = f"    iterate it in 0..{p.pick('1', '2')} {{ next x = TriBatch({s}left, big{s}, {s}right, x); }}\n"
    return None


def elements(p, s, t):
    """What is computed at each place for itself."""
    return "[n, m]", p.pick(f"exp(-abs({s}left))*{s}right + sqrt(abs({s}right)) + tanh({s}diagonal)",
                            f"{s}right/(1 + abs({s}left)) + exprelr({s}diagonal*0.1)",
                            f"{s}left/(1 + norm2({s}right)) + pow(1 + abs({s}left), HALF)")


FORMS = [tree, chains, tree_sides, forest, forest_sides, chains_sides, one_chain, cubes, segments, segments_sides,
         in_place, elements]


def write(p, type_, turn):
    """The system whose turn it is."""
    p.declarations = [line for line in p.declarations if " x :" not in line]
    form = FORMS[turn % len(FORMS)]
    made = form(p, "g" if type_ == "f32" else "q", type_)
    p.cover("system", form.__name__, type_)
    if made:
        p.declarations.append(f"    out x : {type_}{made[0]};")
        p.add(f"x = {made[1]};")
