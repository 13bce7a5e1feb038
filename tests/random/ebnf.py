# SPDX-License-Identifier: MIT
"""Reads programs by the grammar of docs/language.md, and counts what of it they show: each alternative of a rule, each
optional part with and without, each repetition with none, one and several. The grammar is read from the document, so
that a new production is a new row."""

import re
from collections import Counter

from tables import OPERATORS, ROOT

TOKEN = re.compile(r'\s+|#[^\n]*|(?P<STRING>"[^"\n]*")|(?P<NUMBER>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|'
                   r"(?P<INTEGER>\d+)|(?P<WORD>min=(?!=)|max=(?!=)|[A-Za-z_]\w*)|(?P<SIGN>\.\.|[-+*/%=!<>]=|.)")
RESERVED = set(("pipeline const include param assume specialize fixed in out inout temp state func reduce next for "
                "iterate until case else schedule cast true false and or not").split())


def grammar():
    """{name: expression} of the EBNF; ("alt"|"seq", parts), ("opt"|"rep", part), ("text"|"rule", word)."""
    text = (ROOT / "docs/language.md").read_text().split("```ebnf\n")[1].split("```")[0]
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    rules = re.split(r"^([a-z-]+) = ", text, flags=re.M)[1:]
    return {name: Ebnf(body).alternatives() for name, body in zip(rules[::2], rules[1::2])}


class Ebnf:
    def __init__(self, text):
        self.tokens = re.findall(r'"[^"]*"|[A-Za-z-]+|[{}()\[\]|]', text)
        self.at = 0

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def alternatives(self):
        parts = [self.sequence()]
        while self.next() == "|":
            self.at += 1
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else ("alt", parts)

    def sequence(self):
        parts = []
        while self.next() and self.next() not in "|)]}":
            parts.append(self.item())
        return parts[0] if len(parts) == 1 else ("seq", parts)

    def item(self):
        word = self.next()
        self.at += 1
        if word in "([{":
            inner = self.alternatives()
            self.at += 1
            return inner if word == "(" else ("opt" if word == "[" else "rep", inner)
        return ("text", word.strip('"')) if word[0] == '"' else ("rule", word)


def shown(part):
    """A part of the grammar as text."""
    kind, value = part
    if kind in ("text", "rule"):
        return f'"{value}"' if kind == "text" else value
    if kind == "alt":
        return " | ".join(map(shown, value))
    if kind == "seq":
        return " ".join(f"( {shown(inner)} )" if inner[0] == "alt" else shown(inner) for inner in value)
    return ("[ {} ]" if kind == "opt" else "{{ {} }}").format(shown(value))


def left_recursive(part, name):
    return part[0] == "seq" and part[1][0] == ("rule", name)


def rows(rules):
    """(rule, what) for everything that is counted."""
    found = []

    def visit(rule, part):
        kind, value = part
        if kind == "alt":
            found.extend((rule, shown(inner)) for inner in value)
        if kind == "opt":
            found.extend(((rule, f"with {shown(value)}"), (rule, f"without {shown(value)}")))
        if kind == "rep":
            found.extend((rule, f"{often} {shown(value)}") for often in ("no", "one", "several"))
        for inner in value if kind in ("alt", "seq") else [value] if kind in ("opt", "rep") else []:
            visit(rule, inner)
    for rule, part in rules.items():
        visit(rule, part)
    return list(dict.fromkeys(found))


def tokens(text):
    found = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind:
            word = match[0]
            found.append((word if kind == "SIGN" or word in RESERVED or word[-1] == "=" else
                          "NAME" if kind == "WORD" else kind, word))
    return found


class Reader:
    """The longest reading at each place; what is read is remembered by rule and place, with what it shows."""

    def __init__(self, rules, text):
        self.rules, self.tokens, self.memory = rules, tokens(text), {}
        self.binary = {spelling for spelling, operands in OPERATORS if operands == 2}

    def rule(self, name, at):
        """(end, counted) or None."""
        if name in ("NAME", "INTEGER", "NUMBER", "STRING"):
            return (at + 1, ()) if at < len(self.tokens) and self.tokens[at][0] == name else None
        if name == "type-name":
            return self.rule("NAME", at)
        if (name, at) not in self.memory:
            self.memory[name, at] = (self.expression(at) if name == "expression" else
                                     self.part(name, self.rules[name], at))
        return self.memory[name, at]

    def expression(self, at):
        """The alternatives that begin otherwise, and then operators."""
        kind, alternatives = self.rules["expression"]
        plain = [part for part in alternatives if not left_recursive(part, "expression")]
        last = next(part for part in alternatives if left_recursive(part, "expression"))
        found = self.part("expression", (kind, plain), at)
        while found and found[0] < len(self.tokens) and self.tokens[found[0]][1] in self.binary:
            more = self.part("expression", (kind, plain), found[0] + 1)
            if not more:
                break
            found = more[0], found[1] + more[1] + (("expression", shown(last)),)
        return found

    def part(self, rule, part, at):
        kind, value = part
        if kind == "text":
            return (at + 1, ()) if at < len(self.tokens) and self.tokens[at][1] == value else None
        if kind == "rule":
            return self.rule(value, at)
        return getattr(self, kind)(rule, value, at)

    def alt(self, rule, parts, at):
        best = None
        for inner in parts:
            found = self.part(rule, inner, at)
            if found and (not best or found[0] > best[0]):
                best = found[0], found[1] + ((rule, shown(inner)),)
        return best

    def seq(self, rule, parts, at):
        """An optional part is left out where what follows cannot be read behind it."""
        counted = ()
        for i, inner in enumerate(parts):
            found = self.part(rule, inner, at)
            if not found:
                return None
            if inner[0] == "opt" and found[0] > at and not (rest := self.seq(rule, parts[i + 1:], found[0])):
                rest = self.seq(rule, parts[i + 1:], at)
                return rest and (rest[0], counted + ((rule, f"without {shown(inner[1])}"),) + rest[1])
            if inner[0] == "opt" and found[0] > at:
                return rest[0], counted + found[1] + rest[1]
            at, counted = found[0], counted + found[1]
        return at, counted

    def opt(self, rule, inner, at):
        found = self.part(rule, inner, at)
        return (found[0], found[1] + ((rule, f"with {shown(inner)}"),)) if found else \
            (at, ((rule, f"without {shown(inner)}"),))

    def rep(self, rule, inner, at):
        n, counted = 0, ()
        while (found := self.part(rule, inner, at)) and found[0] > at:
            n, at, counted = n + 1, found[0], counted + found[1]
        often = "no" if n == 0 else "one" if n == 1 else "several"
        return at, counted + ((rule, f"{often} {shown(inner)}"),)


def read(rules, text):
    """What a file shows of the grammar; an error where it is not of it."""
    reader = Reader(rules, text)
    end, counted = reader.rule("file", 0)
    if end != len(reader.tokens):
        raise ValueError("not of the grammar: " + " ".join(word for _, word in reader.tokens[end:end + 12]))
    return Counter(counted)
