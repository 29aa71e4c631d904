"""Descriptors that make a method of an operation, for either kind of client."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ._call import Call, Listing
from ._engine import AsyncEngine, Engine
from ._flow import Flow
from ._pages import AsyncPages, Pages

P = ParamSpec("P")
T = TypeVar("T")
Entry = TypeVar("Entry")
Page = TypeVar("Page")


class SyncScope:
    """A synchronous object with an engine and the ids of its scope."""

    _engine: Engine
    _ids: tuple[str, ...]


class AsyncScope:
    """An asynchronous object with an engine and the ids of its scope."""

    _engine: AsyncEngine
    _ids: tuple[str, ...]


class _Described:
    """A function whose first arguments are the ids of the scope."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    def bound(self, scope: SyncScope | AsyncScope, send: Callable[[Any], Any]) -> Callable[..., Any]:
        """The method: it has the function's signature and documentation, without those ids."""
        build = self.build

        def method(*args: Any, **kwargs: Any) -> Any:
            return send(build(*scope._ids, *args, **kwargs))

        functools.update_wrapper(method, build, assigned=("__name__", "__qualname__", "__doc__"))
        signature = inspect.signature(build)
        rest = list(signature.parameters.values())[len(scope._ids) :]
        returned = re.sub(r"^(?:Call|Flow)\[(.*)\]$", r"\1", str(signature.return_annotation)).replace(
            "Listing", "Pages"
        )
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=rest, return_annotation=returned
        )
        return method


class Operation(_Described, Generic[P, T]):
    """An operation with one response."""

    @overload
    def __get__(self, scope: None, owner: type) -> Operation[P, T]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        if scope is None:
            return self
        if isinstance(scope, SyncScope):
            engine = scope._engine
            return self.bound(scope, lambda call: engine.send(call).value)
        waiting = scope._engine

        async def send(call: Call[T]) -> T:
            return (await waiting.send(call)).value

        return self.bound(scope, send)


class ListOperation(_Described, Generic[P, Entry, Page]):
    """An operation with pages."""

    @overload
    def __get__(self, scope: None, owner: type) -> ListOperation[P, Entry, Page]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, Pages[Entry, Page]]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, AsyncPages[Entry, Page]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        if scope is None:
            return self
        if isinstance(scope, SyncScope):
            engine = scope._engine
            return self.bound(scope, lambda listing: Pages(engine, listing))
        waiting = scope._engine
        return self.bound(scope, lambda listing: AsyncPages(waiting, listing))


class FlowMethod(_Described, Generic[P, T]):
    """A flow as a method."""

    @overload
    def __get__(self, scope: None, owner: type) -> FlowMethod[P, T]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        return self if scope is None else self.bound(scope, scope._engine.run)


def operation(build: Callable[P, Call[T]]) -> Operation[P, T]:
    """An operation as a method of a client."""
    return Operation(build)


def vault_operation(build: Callable[Concatenate[str, P], Call[T]]) -> Operation[P, T]:
    """An operation as a method of a vault."""
    return Operation(build)


def memory_operation(build: Callable[Concatenate[str, str, P], Call[T]]) -> Operation[P, T]:
    """An operation as a method of a memory."""
    return Operation(build)


def listing(build: Callable[P, Listing[Entry, Page]]) -> ListOperation[P, Entry, Page]:
    """A list as a method of a client."""
    return ListOperation(build)


def vault_listing(build: Callable[Concatenate[str, P], Listing[Entry, Page]]) -> ListOperation[P, Entry, Page]:
    """A list as a method of a vault."""
    return ListOperation(build)


def memory_listing(build: Callable[Concatenate[str, str, P], Listing[Entry, Page]]) -> ListOperation[P, Entry, Page]:
    """A list as a method of a memory."""
    return ListOperation(build)


def flow(build: Callable[Concatenate[str, str, P], Flow[T]]) -> FlowMethod[P, T]:
    """A flow as a method of a memory."""
    return FlowMethod(build)
