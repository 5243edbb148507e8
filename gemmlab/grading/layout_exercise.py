"""Exercises whose answer is a layout: a function that says at which word of shared memory an element of a tile lies.

The function is called in the sandbox for every element; the trusted side judges the table, with wavefronts counted on
the emulator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from gemmlab.bank_probe import wavefronts
from gemmlab.grading.exercise import Exercise, number


@dataclass(frozen=True)
class Request:
    """A kind of warp request: lane i of request number r takes `words` elements from element(r, i) = (row, column)."""

    name: str
    count: int
    element: Callable[[int, int], tuple[int, int]]
    words: int = 1


@dataclass(frozen=True, kw_only=True)
class Layout(Exercise):
    """A layout idx(row, column) of a tile of 4-byte words, without gaps, on which no request meets a bank conflict."""

    kind: ClassVar[str] = "layout"
    rows: int = 32
    columns: int = 32
    requests: tuple[Request, ...]

    def record(self, answer, inputs):
        if answer is None or answer is Ellipsis:
            raise self.unfinished("define the function")
        if not callable(answer):
            raise self.fail(f"give the function itself, not {type(answer).__name__}")
        return {"table": [[self._call(answer, r, c) for c in range(self.columns)] for r in range(self.rows)]}

    def _call(self, answer, row, column):
        try:
            value = answer(row, column)
        except Exception as error:  # the learner's code may raise anything; the judge reports it
            return f"raised {type(error).__name__}: {str(error)[:120]}"
        if value is None or value is Ellipsis:
            return "unfinished"
        word = number(value)
        return int(word) if word is not None and word == word // 1 else f"returned {str(value)[:40]}, no whole number"

    def judge(self, record, inputs=None, backend="emulator"):
        table = record.get("table")
        if not isinstance(table, list) or [len(row) for row in table] != [self.columns] * self.rows:
            raise self.fail("the function was not called for every element")
        self._require_words(table)
        self._require_bijection(table)
        for request in self.requests:
            self._require_no_conflict(table, request)
        return f"{self.rows} × {self.columns} words without a gap, no conflict {self._spell()}"

    def _spell(self):
        return " or ".join(request.name for request in self.requests)

    def _require_words(self, table):
        if all(word == "unfinished" for row in table for word in row):
            raise self.unfinished("the function returns nothing")
        for r, row in enumerate(table):
            for c, word in enumerate(row):
                if type(word) is not int:
                    said = "returned nothing" if word == "unfinished" else str(word)[:160]
                    raise self.fail(f"idx({r}, {c}) {said}")
                if not 0 <= word < self.rows * self.columns:
                    raise self.fail(f"idx({r}, {c}) is {word}; the tile has words 0 to {self.rows * self.columns - 1}")

    def _require_bijection(self, table):
        owner = {}
        for r, row in enumerate(table):
            for c, word in enumerate(row):
                if word in owner:
                    raise self.fail(f"elements {owner[word]} and {(r, c)} both lie at word {word}")
                owner[word] = r, c

    def _require_no_conflict(self, table, request):
        width = 4 * request.words
        for number_ in range(request.count):
            addresses = []
            for lane in range(32):
                row, column = request.element(number_, lane)
                words = [table[row][column + i] for i in range(request.words)]
                if words != list(range(words[0], words[0] + request.words)) or words[0] % request.words:
                    raise self.fail(
                        f"elements ({row}, {column}) to ({row}, {column + request.words - 1}) lie at words "
                        f"{', '.join(map(str, words))}: one {8 * width}-bit load needs neighbours, from a multiple of "
                        f"{request.words} on"
                    )
                addresses.append(4 * words[0])
            took, least = wavefronts(addresses, width)
            if took > least:
                first = request.element(number_, 0)
                raise self.fail(
                    f"{took / least:.3g}-way bank conflict {request.name}: the request that begins at {first} takes "
                    f"{took} wavefronts where {least} would do"
                )
