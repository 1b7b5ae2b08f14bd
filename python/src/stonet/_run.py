"""How a job speaks to Python: seed and threads in; progress, messages and Ctrl-C out."""
from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
import threading
import time
import warnings
from types import FrameType, TracebackType
from typing import Any, Callable, Dict

from . import _library
from .errors import StonetWarning

Callback = Callable[[Dict[str, Any]], Any]
BAR_WIDTH = 30
REDRAW_SECONDS = 0.1
_forked = False


def _say_forked() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_say_forked)


def threads_of(n_jobs: int | None) -> int:
    """Threads for the library: 0 is all cores.

    None leaves it to OMP_NUM_THREADS, which joblib sets in its workers so that they do not crowd each other. A forked
    process has one: OpenMP would wait there for ever for the threads of the parent.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning: give a number of threads, or -1 for all cores")
    if _forked:
        return 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]  # one number for each level of nesting
        return int(limit) if limit.isdigit() else 0
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return int(n_jobs)


def warn(text: str, kind: type[Warning]) -> None:
    """A warning that names the line of the caller, and none of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


class RunContext:
    """A stonet_run for the time of one call; `with RunContext(...) as run: lib.f(.., run.pointer, ..)`.

    While it is open on the main thread, Ctrl-C only raises a flag that the library asks for, since an
    exception must not cross C code; on leaving, the flag becomes a KeyboardInterrupt.
    """

    def __init__(
        self, seed: int = 1, n_jobs: int | None = None, verbose: int | bool = 0, callback: Callback | None = None
    ) -> None:
        self.interrupted = False
        self._callback = callback
        self._stop_wanted = False
        self._failure: BaseException | None = None
        self.warn_as: type[Warning] = StonetWarning
        self._bar_drawn_at = 0.0
        self._bar_open = False
        self._before: Any = None
        self._warnings: list[str] = []
        self._run = _library.Run(seed=_library.seed_of(seed), threads=threads_of(n_jobs))
        self._run.should_stop = _library.SHOULD_STOP(self._should_stop)
        self._verbose = bool(verbose)
        self._run.on_message = _library.ON_MESSAGE(self._on_message)
        if self._verbose or callback is not None:
            self._run.on_progress = _library.ON_PROGRESS(self._on_progress)

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self._run)

    @property
    def checkpoint(self) -> Any:
        return self._run.checkpoint

    @checkpoint.setter
    def checkpoint(self, handle: ctypes.c_void_p | None) -> None:
        self._run.checkpoint = handle

    def __enter__(self) -> RunContext:
        if threading.current_thread() is threading.main_thread():
            current = signal.getsignal(signal.SIGINT)
            if current is signal.default_int_handler:
                self._before = current
                signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self._clear_bar()
        for text in self._warnings:
            warn(text, self.warn_as)
        if self._failure is not None:
            raise self._failure
        if self.interrupted:
            raise KeyboardInterrupt

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True

    def _should_stop(self, user: int | None) -> int:
        return int(self.interrupted or self._stop_wanted)

    def _on_message(self, level: int, text: bytes, user: int | None) -> None:
        sentence = text.decode("utf-8", "replace")
        if level > 0:
            self._warnings.append(sentence)
        elif self._verbose:
            self._clear_bar()
            print(f"note: {sentence}", file=sys.stderr)

    def _on_progress(self, progress: Any, user: int | None) -> None:
        now = progress.contents
        if self._callback is not None:
            self._call_back(now)
        if self._verbose:
            self._draw(now)

    def _call_back(self, now: Any) -> None:
        """An exception must not cross C code: it stops the job and is raised when that has ended."""
        try:
            told = {name: getattr(now, name) for name in ("done", "total", "loss", "validation_loss", "seconds")}
            if self._callback is not None and self._callback({"stage": now.stage.decode(), **told}):
                self._stop_wanted = True
        except BaseException as failure:
            self._failure = failure
            self._stop_wanted = True

    def _draw(self, now: Any) -> None:
        clock = time.monotonic()
        finished = now.total > 0 and now.done >= now.total
        if clock - self._bar_drawn_at < REDRAW_SECONDS and not finished:
            return
        self._bar_drawn_at = clock
        share = min(1.0, now.done / now.total) if now.total > 0 else 0.0
        filled = int(share * BAR_WIDTH)
        line = f"{now.stage.decode()} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {now.done}"
        line += f"/{now.total}" if now.total > 0 else ""
        line += f" loss {now.loss:.4g}" if math.isfinite(now.loss) else ""
        line += f" {now.seconds:.1f} s"
        print(f"\r{line:<79}", end="\n" if finished else "", file=sys.stderr, flush=True)
        self._bar_open = not finished

    def _clear_bar(self) -> None:
        if self._bar_open:
            print(file=sys.stderr)
            self._bar_open = False
