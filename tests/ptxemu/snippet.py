"""Run one PTX instruction over vectors of operands: what the opcode tests share."""

from __future__ import annotations

import numpy as np

import ptxemu

_WORD = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


def run(body, inputs, out_dtype, registers="", target="sm_90", block=None, version="8.3"):
    """Run ``body`` once per element. ``%a0``, ``%a1`` … hold the inputs, ``%o`` the result; widths follow the arrays'
    dtypes.

    16-bit values sit in .b16 registers. Returns an array of ``out_dtype`` with one element per input element.
    """
    n = len(inputs[0])
    inputs = [np.ascontiguousarray(i) for i in inputs]
    out = np.zeros(n, out_dtype)
    arrays = [*inputs, out]
    block = block or n
    kinds = [_WORD[a.dtype.itemsize] for a in arrays]
    names = [f"%a{i}" for i in range(len(inputs))] + ["%o"]
    params = ",\n".join(f".param .u64 p{i}" for i in range(len(arrays)))
    declare = "\n".join(f".reg .{'b16' if k == 'b8' else k} {n};" for n, k in zip(names, kinds, strict=True))
    loads, addresses = [], []
    for i, (name, kind, array) in enumerate(zip(names, kinds, arrays, strict=True)):
        addresses.append(
            f".reg .b64 %q{i};\nld.param.u64 %q{i}, [p{i}];\nmad.wide.u32 %q{i}, %t, {array.dtype.itemsize}, %q{i};"
        )
        if name != "%o":
            loads.append(f"ld.global.{kind} {name}, [%q{i}];")
    lines = "\n".join([*addresses, *loads])
    text = f"""
.version {version}
.target {target}
.address_size 64
.visible .entry k({params})
{{
.reg .b32 %t, %u, %v;
{declare}
{registers}
mov.u32 %u, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %t, %tid.x;
mad.lo.u32 %t, %u, %v, %t;
{lines}
{body}
st.global.{kinds[-1]} [%q{len(arrays) - 1}], %o;
ret;
}}
"""
    profile = ptxemu.profile_for(target)
    report = ptxemu.launch(
        ptxemu.load(text).entry(), -(-n // block) if block < n else 1, min(block, n), arrays, profile=profile
    )
    assert not report.errors, str(report)
    return out


RNG = np.random.default_rng(7)


def grid(edge, count=400, dtype=np.uint32):
    """All pairs of edge values, then random bits."""
    a, b = (m.ravel() for m in np.meshgrid(edge, edge))
    r = RNG.integers(0, 1 << (8 * np.dtype(dtype).itemsize), (2, count), dtype=np.uint64).astype(dtype)
    return np.concatenate((a, r[0])).astype(dtype), np.concatenate((b, r[1])).astype(dtype)


def check(out, expected):
    wrong = np.flatnonzero(out != np.array(expected, out.dtype))
    assert not len(wrong), f"element {wrong[0]}: got {int(out[wrong[0]]):#x}, expected {int(expected[wrong[0]]):#x}"
