"""Errors of the emulator. Each message is one line that says what to do."""

import contextlib


class PtxError(ValueError):
    """The PTX text cannot be read, or it uses something that the emulator does not support."""


class LaunchError(ValueError):
    """A launch that a GPU would refuse: it does not fit, the target does not match, or the arguments do not."""


@contextlib.contextmanager
def made_out(words):
    """Turn what goes wrong inside, where text is not what a compiler writes, into a PtxError of ``words()``."""
    try:
        yield
    except PtxError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise PtxError(words()) from error
