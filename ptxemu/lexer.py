"""PTX text to tokens."""

from __future__ import annotations

import re

from .errors import PtxError

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f]+|//[^\n]*)
    |(?P<newline>\n)
    |(?P<comment>/\*.*?\*/)
    |(?P<string>"[^"\n]*")
    |(?P<name>[%$_A-Za-z.][\w$.]*(?:::[\w.]+)*)
    |(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+U?)
    |(?P<punct>[;{}\[\](),:@!|+\-<>=*~])""",
    re.VERBOSE | re.DOTALL,
)


def tokenize(text):
    """Return (kinds, values, lines): parallel lists; ``.loc`` and ``.file`` end with a token of kind "newline"."""
    kinds, values, lines = [], [], []
    line, pos, end = 1, 0, len(text)
    match = _TOKEN.match
    in_line_directive = False
    while pos < end:
        m = match(text, pos)
        if m is None:
            snippet = text[pos : pos + 20].split("\n")[0]
            raise PtxError(f"line {line}: cannot read {snippet!r} as PTX; pass the text of a .ptx file")
        kind = m.lastgroup
        pos = m.end()
        if kind == "space":
            continue
        if kind == "newline":
            if in_line_directive:
                kinds.append(kind)
                values.append("\n")
                lines.append(line)
                in_line_directive = False
            line += 1
            continue
        value = m.group()
        if kind == "comment":
            line += value.count("\n")
            continue
        if kind == "name" and value in (".loc", ".file"):
            in_line_directive = True
        parts = [value] if value[0] != "." or kind != "name" else [f".{p}" for p in value[1:].split(".")]  # ".reg.b16"
        for part in parts:
            kinds.append(kind)
            values.append(part)
            lines.append(line)
    kinds.append("end")
    values.append("")
    lines.append(line)
    return kinds, values, lines


def number(text):
    """Value of a number token: an int, or ("f", bits, width) for hexadecimal floats, or a float."""
    head = text[:2].lower()
    if head == "0f" and len(text) == 10:
        return ("f", int(text[2:], 16), 32)
    if head == "0d" and len(text) == 18:
        return ("f", int(text[2:], 16), 64)
    text = text.rstrip("U")
    if head == "0x":
        return int(text, 16)
    if "." in text or "e" in text.lower():
        return float(text)
    if len(text) > 1 and text[0] == "0":
        return int(text, 8)
    return int(text)
