"""Sphinx extension: highlight ``%%cuda`` notebook cells as CUDA C++ instead of Python."""

from docutils import nodes
from pygments.lexers.c_like import CudaLexer
from pygments.token import Name, Text
from sphinx.application import Sphinx

LEXER = "cuda-cell"
MAGIC = "%%cuda"


class CudaCellLexer(CudaLexer):
    """CUDA C++ below one line of cell magic."""

    name = "CUDA C++ notebook cell"
    aliases = [LEXER]

    def get_tokens_unprocessed(self, text, stack=("root",)):
        line, newline, code = text.partition("\n")
        yield 0, Name.Decorator, line
        yield len(line), Text.Whitespace, newline
        for index, token, value in super().get_tokens_unprocessed(code, stack):
            yield index + len(line) + 1, token, value


def mark_cuda_cells(app: Sphinx, doctree: nodes.document) -> None:
    for block in doctree.findall(nodes.literal_block):
        if block.astext().startswith(MAGIC):
            block["language"] = LEXER


def setup(app: Sphinx) -> dict:
    app.add_lexer(LEXER, CudaCellLexer)
    app.connect("doctree-read", mark_cuda_cells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
