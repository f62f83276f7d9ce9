# SPDX-License-Identifier: BSD-3-Clause
"""Regions and spans: named passages, of which the library writes a report at exit.

The functions of libuncore's names raise Error. What `with` and decorators begin goes on without measurement: the report
shows each failure. Only a mistake of the program (EINVAL: a bad name, ends that do not nest) is a warning
at once.
"""
from __future__ import annotations

import ctypes as c
import errno
import functools
import inspect
import os
import warnings
from typing import Any, Callable, Generator, List, Optional, TypeVar, cast

from . import _team
from ._library import failure, lib

Function = TypeVar("Function", bound=Callable[..., Any])


def _checked(result: int) -> None:
    if result < 0:
        raise failure(result)


def _noted(result: int) -> None:
    if result == -errno.EINVAL:
        warnings.warn(failure(result).strerror, RuntimeWarning, stacklevel=3)


def region_begin(name: str) -> None:
    """Also after an Error the region must be ended, except after EINVAL and ENOSPC."""
    _team.settle()
    _checked(lib.uncore_region_begin(name.encode()))


def region_end(name: str) -> None:
    """Ends the innermost region of this thread."""
    _checked(lib.uncore_region_end(name.encode()))


def region_next(old: str, new: str) -> None:
    """Ends the innermost region and begins another one, with one reading for both."""
    _checked(lib.uncore_region_next(old.encode(), new.encode()))


def region_title(name: str, title: str) -> None:
    """Says what the name of a region is short for."""
    _team.settle()
    lib.uncore_region_title(name.encode(), title.encode())


def region_work(name: str, amount: float, unit: str) -> None:
    """Adds to the work of a region: its report then has bytes for each unit."""
    _team.settle()
    lib.uncore_region_work(name.encode(), amount, unit.encode())


STATE_LEFT, STATE_OFF, STATE_ON = range(3)


def state_set(name: str, state: int) -> None:
    """Says that a thread of this process comes into a state (STATE_ON), goes out, or that it takes part no longer."""
    _team.settle()
    lib.uncore_state_set(name.encode(), state)


def region_report(path: Optional[str] = None) -> None:
    """Writes the report so far, as JSON to a file, or as a table to stderr."""
    lib.uncore_region_report(None if path is None else os.fsencode(path))


def _begin_span(name: bytes) -> tuple[int, int]:
    number = c.c_uint64()
    _team.settle()
    result = lib.uncore_span_begin(name, c.byref(number))
    return result, number.value


def span_begin(name: str) -> int:
    """A number for span_end(), which any thread may call. After an Error no span is open."""
    result, number = _begin_span(name.encode())
    if result < 0:
        error = failure(result)
        lib.uncore_span_end(number)
        raise error
    return number


def span_end(span: int) -> None:
    """Once for each span, in the process that began it."""
    _checked(lib.uncore_span_end(span))


class _Passage:
    """What `with` and decorators share."""

    def __init__(self, name: str):
        self._name = name.encode()

    def _span(self) -> span:
        return span(self._name.decode())

    def __call__(self, function: Function) -> Function:
        """As a decorator. Coroutines and generators are spans, because others run between their parts."""
        wrapper: Callable[..., Any]
        if inspect.isasyncgenfunction(function):
            raise TypeError("An asynchronous generator cannot be a region: decorate what iterates over it.")
        if inspect.iscoroutinefunction(function):
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self._span():
                    return await function(*args, **kwargs)
        elif inspect.isgeneratorfunction(function):
            def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
                with self._span():
                    return (yield from function(*args, **kwargs))
        else:
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self._again():
                    return function(*args, **kwargs)
        return cast(Function, functools.wraps(function)(wrapper))

    def _again(self) -> Any:
        return self


class region(_Passage):
    """with uncore.region("solve"): or @uncore.region("solve"). One object may be used again and by many threads."""

    def __enter__(self) -> region:
        _team.settle()
        _noted(lib.uncore_region_begin(self._name))
        return self

    def __exit__(self, *_: object) -> None:
        _noted(lib.uncore_region_end(self._name))


class phases:
    """with uncore.phases("read") as phase: ... phase.next("solve"): regions that follow one another."""

    def __init__(self, name: str):
        self._name = name.encode()

    def __enter__(self) -> phases:
        _team.settle()
        _noted(lib.uncore_region_begin(self._name))
        return self

    def next(self, name: str) -> None:
        """Ends the phase and begins another one, with one reading for both."""
        result = lib.uncore_region_next(self._name, name.encode())
        if result not in (-errno.EINVAL, -errno.ENOSPC):
            self._name = name.encode()
        _noted(result)

    def __exit__(self, *_: object) -> None:
        _noted(lib.uncore_region_end(self._name))


class span(_Passage):
    """A region whose passages may interleave, and end in other threads: of asyncio's tasks, for example. `with` and
    `async with`; one object may be inside several times."""

    def __init__(self, name: str):
        super().__init__(name)
        self._open: List[int] = []  # any of them may end first: they are all of one region

    def __enter__(self) -> span:
        result, number = _begin_span(self._name)
        _noted(result)
        self._open.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        number = self._open.pop()
        if number:
            _noted(lib.uncore_span_end(number))

    async def __aenter__(self) -> span:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()
