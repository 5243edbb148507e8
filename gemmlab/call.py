"""One GEMM by a launch rule: grid, block, arguments, a workspace, and rows padded where TMA needs them to be.

TMA takes only arrays whose rows are multiples of 16 bytes. An array that goes into a tensor map and has other rows is
copied into a padded one first; the map keeps the true extents, so that what lies outside is still filled with zeros.
A tensor store writes whole units of 16 bytes and with them the padding of C, which `finish` leaves out.
"""

from dataclasses import dataclass, field

import numpy as np

from gemmlab import compat
from gemmlab.args import dims
from gemmlab.errors import GemmlabError
from gemmlab.rules import evaluate_rule, evaluate_size, mapped, names_of, rule_args
from gemmlab.tensormap import pad_for_tma

ROW_BYTES = 16  # what a row of a tensor map is a multiple of


@dataclass
class Call:
    """One launch for A (M, K), B as its layout stores it, and C (M, N): NumPy arrays, or all three of CuPy.

    `sms`: SMs of the GPU (SMS in the rule). `workspace`: memory to use again, of an earlier Call. `padding`: what the
    columns that are added to rows hold. `spare`: units of 16 bytes that are added beyond what is needed. `buffers`
    are the arrays that the kernel is given; `notes` says what was padded. Raises GemmlabError for a rule that does not
    fit.
    """

    rule: dict
    A: object
    B: object
    C: object
    sms: int
    workspace: object = None
    padding: object = 0
    spare: int = 0
    grid: tuple = field(init=False)
    block: tuple = field(init=False)
    shared: int = field(init=False)
    cluster: tuple | None = field(init=False)
    buffers: dict = field(init=False)
    notes: tuple[str, ...] = field(init=False)

    def __post_init__(self):
        M, N, K = self.sizes
        self.grid, self.block, self.shared = evaluate_rule(self.rule, M, N, K, self.sms)
        cluster = self.rule.get("cluster")
        self.cluster = dims(tuple(cluster), "cluster") if cluster else None
        arrays, notes = {"A": self.A, "B": self.B, "C": self.C}, []
        self.buffers = dict(arrays)
        for name, array in arrays.items():
            if self._needs_padding(name, array):
                self.buffers[name] = pad_for_tma(array, self.padding, self.spare)
                notes.append(f"{name} padded to rows of {self.buffers[name].shape[1]} elements for TMA")
        self.notes = tuple(notes)
        if "W" in self.rule["args"]:
            self.buffers["W"] = self._workspace(names_of(self.rule, M, N, K, self.sms))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N, K."""
        return self.A.shape[0], self.C.shape[1], self.A.shape[1]

    @property
    def launch(self) -> dict:
        """The keyword arguments of gemmlab.launch. A rule that names a large cluster means it."""
        sizes = {"grid": self.grid, "block": self.block, "shared": self.shared, "cluster": self.cluster}
        return sizes | {"nonportable": True}

    @property
    def padded(self) -> tuple[str, ...]:
        """The names of the arrays whose rows were padded."""
        arrays = {"A": self.A, "B": self.B, "C": self.C}
        return tuple(name for name, array in arrays.items() if self.buffers[name] is not array)

    def _needs_padding(self, name: str, array) -> bool:
        args = self.rule["args"]
        if array.shape[1] * array.dtype.itemsize % ROW_BYTES == 0 or name not in map(mapped, args):
            return False
        if name in args and f"ld{name.lower()}" not in args:
            raise GemmlabError(
                f"{name} goes into a tensor map and is a pointer too, and its rows of {array.shape[1]} elements must "
                f"be padded for TMA: let the kernel take ld{name.lower()}, the elements from row to row"
            )
        return True

    def _workspace(self, names: dict):
        size = evaluate_size(self.rule.get("workspace", 0), names)
        if size < 1:
            raise GemmlabError('launch rule: the kernel takes "W", so "workspace" must say how many bytes it has')
        if self.workspace is not None and self.workspace.size == size:
            return self.workspace
        module = np if isinstance(self.A, np.ndarray) else compat.import_cupy()
        return module.zeros(size, np.uint8)

    def args(self, buffers: dict | None = None) -> tuple:
        """Return the kernel's arguments; `buffers`: copies of this call's buffers elsewhere, by name."""
        buffers = buffers or self.buffers
        M, N, K = self.sizes
        shapes = {name: tuple(getattr(self, name).shape) for name in self.padded}
        rows = {f"ld{name.lower()}": self.buffers[name].shape[1] for name in "ABC"}
        return rule_args(self.rule, shapes, **buffers, M=M, N=N, K=K, alpha=1.0, beta=0.0, **rows)

    def finish(self) -> None:
        """Copy a padded C back into the caller's array."""
        if self.buffers["C"] is not self.C:
            words = f"u{self.C.dtype.itemsize}"
            self.C.view(words)[...] = self.buffers["C"].view(words)[:, : self.C.shape[1]]
