"""Descriptors that make a method of an operation, for either kind of client."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ._call import Call, Listing
from ._engine import AsyncEngine, Engine
from ._flow import Flow
from ._pages import AsyncPages, Pages
from ._sources import Source
from ._streams import AsyncStream, Stream

P = ParamSpec("P")
T = TypeVar("T")
Entry = TypeVar("Entry")
Page = TypeVar("Page")
S = TypeVar("S")
A = TypeVar("A")
Waiting = TypeVar("Waiting", bound="SyncScope")
Awaited = TypeVar("Awaited", bound="AsyncScope")


class SyncScope:
    """Methods that wait, for what lies below a path of the service."""

    # Whether it closes the connections.
    _owner = False

    def __init__(self, engine: Engine, at: str) -> None:
        self._engine, self._at = engine, at

    def with_options(
        self: Waiting,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        headers: Mapping[str, str] | None = None,
        actor: str | None = None,
    ) -> Waiting:
        """The same with other settings, as in `memory.with_options(timeout=5, retries=0).get()`.

        Args:
            timeout: Seconds for an attempt, also of calls that wait for models.
            retries: How often a call is retried.
            headers: Headers of each request.
            actor: The author of versions.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        settings = self._engine.settings.changed(timeout, retries, headers, actor)
        other._engine = Engine(settings, self._engine.connections)
        other._owner = False
        return other


class AsyncScope:
    """Methods to be awaited, for what lies below a path of the service."""

    # Whether it closes the connections.
    _owner = False

    def __init__(self, engine: AsyncEngine, at: str) -> None:
        self._engine, self._at = engine, at

    def with_options(
        self: Awaited,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        headers: Mapping[str, str] | None = None,
        actor: str | None = None,
    ) -> Awaited:
        """The same with other settings: see `Client.with_options`."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        settings = self._engine.settings.changed(timeout, retries, headers, actor)
        other._engine = AsyncEngine(settings, self._engine.connections)
        other._owner = False
        return other


class _Described:
    """A function whose first argument is the path of the scope."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    def bound(self, scope: SyncScope | AsyncScope, send: Callable[[Any], Any]) -> Callable[..., Any]:
        """The method: it has the function's signature and documentation, without that argument."""
        build = self.build

        def method(*args: Any, **kwargs: Any) -> Any:
            return send(build(scope._at, *args, **kwargs))

        functools.update_wrapper(method, build, assigned=("__name__", "__qualname__", "__doc__"))
        signature = inspect.signature(build)
        returned = re.sub(r"^(?:Call|Flow|Source)\[(.*)\]$", r"\1", str(signature.return_annotation))
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=list(signature.parameters.values())[1:],
            return_annotation=returned.replace("Listing", "Pages"),
        )
        return method


class operation(_Described, Generic[P, T]):  # noqa: N801
    """An operation with one response, as a method."""

    def __init__(self, build: Callable[Concatenate[str, P], Call[T]]) -> None:
        super().__init__(build)

    @overload
    def __get__(self, scope: None, owner: type) -> operation[P, T]: ...
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


class listing(_Described, Generic[P, Entry, Page]):  # noqa: N801
    """An operation with pages, as a method."""

    def __init__(self, build: Callable[Concatenate[str, P], Listing[Entry, Page]]) -> None:
        super().__init__(build)

    @overload
    def __get__(self, scope: None, owner: type) -> listing[P, Entry, Page]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, Pages[Entry, Page]]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, AsyncPages[Entry, Page]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        if scope is None:
            return self
        if isinstance(scope, SyncScope):
            engine = scope._engine
            return self.bound(scope, lambda found: Pages(engine, found))
        waiting = scope._engine
        return self.bound(scope, lambda found: AsyncPages(waiting, found))


class flow(_Described, Generic[P, T]):  # noqa: N801
    """A flow of several requests, as a method."""

    def __init__(self, build: Callable[Concatenate[str, P], Flow[T]]) -> None:
        super().__init__(build)

    @overload
    def __get__(self, scope: None, owner: type) -> flow[P, T]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        return self if scope is None else self.bound(scope, scope._engine.run)


class stream(_Described, Generic[P, T]):  # noqa: N801
    """A stream of events, as a method."""

    def __init__(self, build: Callable[Concatenate[str, P], Source[T]]) -> None:
        super().__init__(build)

    @overload
    def __get__(self, scope: None, owner: type) -> stream[P, T]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> Callable[P, Stream[T]]: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> Callable[P, AsyncStream[T]]: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        if scope is None:
            return self
        if isinstance(scope, SyncScope):
            engine = scope._engine
            return self.bound(scope, lambda source: Stream(engine, source))
        waiting = scope._engine
        return self.bound(scope, lambda source: AsyncStream(waiting, source))


class group(Generic[S, A]):  # noqa: N801
    """A group of methods below a scope, as in `memory.records.list()`."""

    def __init__(self, waiting: Callable[[Engine, str], S], awaited: Callable[[AsyncEngine, str], A]) -> None:
        self._waiting, self._awaited = waiting, awaited

    @overload
    def __get__(self, scope: None, owner: type) -> group[S, A]: ...
    @overload
    def __get__(self, scope: SyncScope, owner: type) -> S: ...
    @overload
    def __get__(self, scope: AsyncScope, owner: type) -> A: ...
    def __get__(self, scope: SyncScope | AsyncScope | None, owner: type) -> Any:
        if scope is None:
            return self
        if isinstance(scope, SyncScope):
            return self._waiting(scope._engine, scope._at)
        return self._awaited(scope._engine, scope._at)
