"""What can go wrong, as exceptions. The text is the C library's own sentence."""
from __future__ import annotations


class StonetError(Exception):
    """Any failure that the C library reports."""


class StonetArgumentError(StonetError, ValueError):
    """A setting or an argument is wrong."""


class StonetDataError(StonetError, ValueError):
    """The data cannot be used for what was asked."""


class StonetIOError(StonetError, OSError):
    """A file could not be opened, read or written."""


class StonetFormatError(StonetError, ValueError):
    """A file is not what it claims to be."""


class StonetMemoryError(StonetError, MemoryError):
    """Memory ran out, or the job would not fit in it."""


class StonetNumericError(StonetError, ArithmeticError):
    """The computation failed: it diverged, or a matrix was singular."""


class StonetUnsupportedError(StonetError, ValueError):
    """This method or model cannot do that."""


class StonetWarning(UserWarning):
    """Something the C library warns about."""


# stonet_status -> exception; 8, interrupted, is a KeyboardInterrupt.
BY_STATUS: dict[int, type[StonetError]] = {
    1: StonetArgumentError,
    2: StonetDataError,
    3: StonetIOError,
    4: StonetFormatError,
    5: StonetMemoryError,
    6: StonetNumericError,
    7: StonetUnsupportedError,
}
INTERRUPTED = 8
