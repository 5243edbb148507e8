"""The exceptions that the laboratory raises. Their messages are for the reader: one clear line that says what to do."""


class GemmlabError(ValueError):
    """Bad input, or a machine that lacks something: what is wrong, and what to do about it."""


class CheckError(AssertionError):
    """A kernel or an answer is wrong: the message names the pattern in the learner's terms."""

    def _render_traceback_(self) -> list[str]:
        """Let Jupyter show the message alone: the frames above it are the laboratory's, not the learner's."""
        return [f"{type(self).__name__}: {self}"]
