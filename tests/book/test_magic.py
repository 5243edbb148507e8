"""``%%cuda``: which variable, which kernel, which macros; and how the book highlights it."""

import sys

import pytest
from pygments.token import Keyword, Name

from gemmlab.errors import GemmlabError
from gemmlab.magic import parse
from tools.common import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from cuda_cells import CudaCellLexer  # noqa: E402  (a Sphinx extension: not a package)

ONE = 'extern "C" __global__ void naive(const float* A) {}'
TWO = ONE + '\nextern "C" __global__ void __launch_bounds__(256, 2) other(float* C) {}'


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("naive", ONE, ("naive", "naive", {})),
        ("mine", ONE, ("mine", "naive", {})),
        ("other", TWO, ("other", "other", {})),
        ("k --entry other BM=16 BN=32", TWO, ("k", "other", {"BM": "16", "BN": "32"})),
    ],
)
def test_parse(line, text, expected):
    assert parse(line, text) == expected


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        ("", ONE, "the first word must be a Python variable name"),
        ("2k", ONE, "the first word must be a Python variable name"),
        ("k --entry", ONE, "--entry needs a kernel name"),
        ("k BM", ONE, "cannot read 'BM'"),
        ("k", TWO, "defines naive, other; say which with --entry"),
        ("k --entry gone", ONE, "no kernel 'gone', only naive"),
        ("k", "int x;", "defines no __global__ void function"),
    ],
)
def test_bad_lines_are_one_clear_line(line, text, message):
    with pytest.raises(GemmlabError, match=message) as error:
        parse(line, text)
    assert "\n" not in str(error.value)


def test_magic_defines_a_source():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "gemmlab.magic")
    shell.run_cell_magic("cuda", "naive", ONE)
    assert shell.user_ns["naive"].entry == "naive"
    assert shell.user_ns["naive"].text == "\n" + ONE, "line numbers count the line of the magic"


def test_cells_are_highlighted_as_cuda():
    tokens = [(token, value) for _, token, value in CudaCellLexer().get_tokens_unprocessed(f"%%cuda naive\n{ONE}")]
    assert tokens[0] == (Name.Decorator, "%%cuda naive")
    assert (Keyword, "__global__") in tokens or (Keyword.Reserved, "__global__") in tokens
    assert "".join(value for _, value in tokens) == f"%%cuda naive\n{ONE}"
