"""Many files of recordings, one after the other or through a pool of processes."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

from turnfit.errors import TurnfitError
from turnfit.replay.contenders import Contender
from turnfit.replay.prices import Prices
from turnfit.replay.reading import read_recordings
from turnfit.replay.recordings import Recording
from turnfit.replay.replayed import Replayed
from turnfit.replay.replaying import replay, share_of

__all__ = ["ReplayedFile", "recording_files", "replay_all", "replay_files"]

_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".traj", ".md"))


@dataclass(frozen=True)
class ReplayedFile:
    """What came of a file.

    Attributes:
        path: the file.
        replays: its recordings, replayed.
        errors: what was wrong with the file, or with single recordings of it.
        warnings: what was warned of, once each.
    """

    path: str
    replays: Sequence[Replayed]
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()


def recording_files(folder: str | os.PathLike[str]) -> list[Path]:
    """The files in a folder, and in those below it, that may hold recordings, in their order.

    They are told by their endings: ``.json``, ``.jsonl``, ``.ndjson``, ``.traj``, ``.md``.

    Raises:
        OSError: if the folder can't be read.
    """
    root = Path(folder)
    os.listdir(root)
    return sorted(path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def replay_files(
    paths: Iterable[str | os.PathLike[str]],
    budget: int,
    *,
    window: int | None = None,
    model: str | None = None,
    policies: Sequence[Contender] = (),
    prices: Prices | None = None,
    seconds_per_step: float | None = None,
    steps: bool = False,
    jobs: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Iterator[ReplayedFile]:
    """Files, replayed one by one: what comes does so in their order, however many `jobs`.

    A file that can't be read or holds no history stops nothing; what is wrong is told. Where a
    process ends abruptly, killed for its memory perhaps, so is which files were not replayed.

    Args:
        paths: the files.
        budget: as for `replay`, and so are those that follow.
        window: likewise.
        model: likewise.
        policies: likewise; with several jobs they must be such as can be pickled.
        prices: likewise.
        seconds_per_step: likewise.
        steps: likewise; many files' figures of each request take much memory.
        jobs: how many processes share the files.
        progress: told, as one process goes along, what share of the present file is done.
    """
    one = partial(
        _replay_file,
        budget=budget,
        window=window,
        model=model,
        policies=tuple(policies),
        prices=prices,
        seconds_per_step=seconds_per_step,
        steps=steps,
    )
    names = [os.fspath(path) for path in paths]
    workers = min(jobs, len(names))
    if workers > 1:
        yield from _pooled(one, names, workers)
    else:
        yield from (one(name, progress=progress) for name in names)


def _pooled(
    one: Callable[[str], ReplayedFile], names: Sequence[str], workers: int
) -> Iterator[ReplayedFile]:
    # Started afresh: what this process runs besides can't be forked safely.
    context = get_context("spawn")
    watched, held = context.Pipe(duplex=False)
    with ExitStack() as stack:
        pool = ProcessPoolExecutor(workers, context, _begin, (watched,))
        stack.callback(pool.shutdown, cancel_futures=True)
        # Before that, so that it waits for no work that nobody wants any more.
        stack.callback(held.close)
        with _uninterrupted():
            futures = deque(_submitted(pool, one, names))
        for name in names:
            # Let go of here: what came of a file may be large.
            yield _came_of(name, futures.popleft() if futures else None)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keeps Ctrl-C for later, and from processes that are started: they inherit what is blocked."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(watched: Connection) -> None:
    """Makes a worker end with the process that started it, and only so.

    Ctrl-C goes to all processes of a terminal, and is answered by the one that started them:
    it closes its end of the pipe, as also happens where it is killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    with suppress(EOFError, OSError):
        watched.recv()
    os._exit(1)


def _submitted(
    pool: ProcessPoolExecutor, one: Callable[[str], ReplayedFile], names: Sequence[str]
) -> Iterator[Future[ReplayedFile]]:
    """The files' futures, as many as there are before a worker's end breaks the pool."""
    with suppress(BrokenProcessPool):
        for name in names:
            yield pool.submit(one, name)


def _came_of(name: str, future: Future[ReplayedFile] | None) -> ReplayedFile:
    if future is not None:
        with suppress(BrokenProcessPool):
            return future.result()
    # Of which file it was isn't told, and the pool is broken for all.
    return ReplayedFile(name, (), [f"{name}: not replayed: a process ended abruptly"])


def _replay_file(path: str, **options: Any) -> ReplayedFile:
    try:
        recordings = read_recordings(Path(path).read_bytes(), path)
    except OSError as error:
        return ReplayedFile(path, (), [f"{path}: {error.strerror}"])
    except TurnfitError as error:
        return ReplayedFile(path, (), [str(error)])
    return replay_all(path, recordings, **options)


def replay_all(
    path: str,
    recordings: Sequence[Recording],
    *,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> ReplayedFile:
    """Recordings of one file, replayed; those that can't be are told. Options as for `replay`."""
    replays, errors, warned = [], list[str](), dict[str, None]()
    for number, recording in enumerate(recordings):
        told = share_of(progress, number, len(recordings))
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                replays.append(replay(recording, **options, progress=told))
            warned |= dict.fromkeys(str(one.message) for one in caught)
        except RecursionError:
            errors.append(f"{recording.name}: a message is nested too deeply")
        except TurnfitError as error:
            what = str(error)
            is_named = what.startswith(f"{recording.name}: ")
            errors.append(what if is_named else f"{recording.name}: {what}")
    return ReplayedFile(path, replays, errors, list(warned))
