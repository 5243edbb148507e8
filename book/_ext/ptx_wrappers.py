"""Sphinx extension: the functions of kernels/ptx/ with the instructions they are (`{ptx-wrappers}`), from the headers.

A header holds functions and macros that make functions; both are read as text. What the page says is what stands there.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from course_tables import CourseDirective
from docutils import nodes
from sphinx.application import Sphinx

import kernels

FOLDER = Path(kernels.ROOT) / "ptx"
COMMENT = r"(?P<comment>(?:^//[^\n]*\n)*)"
FUNCTION = re.compile(
    COMMENT + r"(?:^template <(?P<template>[^>\n]*)>\s*)?__device__ __forceinline__ [\w:]+ "
    r"(?P<name>\w+)\((?P<parameters>[^{]*)\)\s*\{(?P<body>.*?)(?=^template|^__device__|^//|\Z)",
    re.MULTILINE | re.DOTALL,
)
MACRO = re.compile(COMMENT + r"^#define (?P<name>\w+)\((?P<parameters>[^)]*)\)(?P<body>(?:.*\\\n)*.*\n)", re.MULTILINE)
MNEMONIC = re.compile(r"(?:^|[\s;{}])([a-z][a-z0-9_]*(?:[.:]+(?:\w|<\w+>)+)+)(?=[\s;])")
HELPERS = ("setp.", "selp.")  # predicates in and out: no part of what a wrapper is


@dataclass(frozen=True)
class Wrapper:
    """One function: its name with parameters as in C++, its PTX instructions, and the comment above it."""

    signature: str
    instructions: tuple[str, ...]
    remark: str


def prose(comment: str) -> str:
    """Return the text of `//` lines as one paragraph."""
    return " ".join(line.lstrip("/ ").rstrip() for line in comment.splitlines()).strip()


def arguments(text: str) -> list[str]:
    """Split a macro's arguments at the commas outside of strings."""
    return [part.strip() for part in re.findall(r'(?:"[^"]*"|[^,"])+', text)]


def put_in(macro: re.Match, values: list[str]) -> str:
    """Return the body of a macro with its parameters replaced, as the preprocessor would."""
    body = macro["body"].replace("\\\n", "\n")
    for name, value in zip(arguments(macro["parameters"]), values, strict=False):
        body = re.sub(rf"##\s*{name}\b", value, body)
        body = re.sub(rf"#\s*{name}\b", f'"{value}"', body)
        body = re.sub(rf"\b{name}\b", lambda _, value=value: value, body)
    return body


def expanded(text: str) -> str:
    """Return a header's text with the functions that its macros make written out, one after the other."""
    included = "".join((FOLDER.parent / name).read_text() for name in re.findall(r'#include "(ptx/\w+\.cuh)"', text))
    macros = {macro["name"]: macro for macro in MACRO.finditer(included + text)}

    def made(match: re.Match) -> str:
        macro = macros.get(match["name"])
        if macro is None or "__device__" not in macro["body"]:
            return match[0]
        body = re.sub(r"^ +(?=template|__device__)", "", put_in(macro, arguments(match["values"])), flags=re.MULTILINE)
        since = f"// {match['since']}\n" if match["since"] else ""
        return f"{macro['comment']}{since}{body.strip()}\n"

    text = MACRO.sub("", text)
    text = re.sub(r"^(?P<name>[A-Z]\w+)\((?P<values>.*)\)(?: *// (?P<since>sm_\w+))?$", made, text, flags=re.MULTILINE)
    for name, macro in macros.items():  # strings such as TMA_LOAD("2d"), and the forms that WGMMA_EACH chooses from
        if "__device__" not in macro["body"] and '"' in macro["body"]:
            use = rf"\b{name}\((\"[^\"]*\")\)" if macro["parameters"] == "dim" else rf"\b{name}(?=,)"
            text = re.sub(use, lambda match, macro=macro: put_in(macro, list(match.groups())), text)
    return text


def instructions(body: str) -> tuple[str, ...]:
    """Return the PTX instructions that a function's strings hold, in order, without helpers and repetitions."""
    joined = re.sub(r'"\s*#?(\w+)\s*"', r"<\1>", re.sub(r'"\s*"', "", body))
    strings = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', joined)).replace("\\n", " ").replace("\\t", " ")
    found = (name for name in MNEMONIC.findall(strings) if not name.startswith(HELPERS))
    return tuple(dict.fromkeys(found))


def read(path: Path) -> tuple[str, list[Wrapper]]:
    """Return (what the header's first comment says, its wrappers)."""
    text = path.read_text().replace("#pragma once\n", "", 1)
    head = re.match(r"\s*((?://.*\n)+)", text)[1]
    wrappers = []
    for match in FUNCTION.finditer(expanded(text.split(head, 1)[1])):
        parameters = " ".join(match["parameters"].split())
        template = re.sub(r"\b(?:int|typename|class) ", "", match["template"] or "")
        name = match["name"] + (f"<{template}>" if template else "")
        wrappers.append(Wrapper(f"{name}({parameters})", instructions(match["body"]), prose(match["comment"])))
    return prose(head), wrappers


class PtxWrappers(CourseDirective):
    """What each header is for, and its functions: the signature, the instructions, the remark."""

    def run(self) -> list[nodes.Node]:
        text = []
        for path in sorted(FOLDER.glob("*.cuh")):
            self.env.note_dependency(str(path))
            about, wrappers = read(path)
            text += [f"**`ptx/{path.name}`** · {about}", ""]
            for one in wrappers:
                said = [", ".join(f"`{name}`" for name in one.instructions), one.remark]
                text += [f"- `{one.signature}`\\", f"  {' · '.join(filter(None, said)) or 'made of the others'}"]
            text.append("")
        return self.markdown("\n".join(text))


def setup(app: Sphinx) -> dict:
    app.add_directive("ptx-wrappers", PtxWrappers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
