"""Errors of the emulator. Each message is one line that says what to do."""


class PtxError(ValueError):
    """The PTX text cannot be read, or it uses something that the emulator does not support."""


class LaunchError(ValueError):
    """A launch that a GPU would refuse: it does not fit, the target does not match, or the arguments do not."""
