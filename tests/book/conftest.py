"""A small repository in a temporary folder: one kernel, one lesson, one solution."""

import shutil
from pathlib import Path

import pytest

from tools.common import ROOT

LESSON = """\
# %% [markdown]
# # 03 · Tiny

# %% tags=["setup"]

# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_tiny.py"}

# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_tiny.cu"}
# %%cuda tiny_cuda

# %%
1 + 1
"""

SOLUTION = """\
# %% [markdown]
# # 03 · Exercises

# %% tags=["setup"]

# %% tags=["exercise"] gemmlab={"exercise": "03.1"}
def answer(x):
    ### BEGIN SOLUTION
    ### SKELETON: return None
    secret = x + 1
    return secret
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "03.1"}
gl.exercise("03.1").check(answer)

# %% tags=["exercise"] gemmlab={"exercise": "03.2"}
# %%cuda twin
# extern "C" __global__ void twin(float* C)
# {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: // your code
#     C[0] = 1.0f;
#     // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "03.2"}
gl.exercise("03.2").check(twin)

# %% [markdown] tags=["solution"]
# The secret is one.
"""

KERNEL = """\
import numba

# region: kernel
def tiny(A):
    return A
# endregion
"""

TWIN = """\
// region: kernel
extern "C" __global__ void tiny(float* A) {}
// endregion
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for name, text in {
        "notebooks/03_tiny.py": LESSON,
        "solutions/03_tiny.py": SOLUTION,
        "kernels/simt/k03_tiny.py": KERNEL,
        "kernels/simt/k03_tiny.cu": TWIN,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    return tmp_path
