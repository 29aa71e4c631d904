"""Lists, as iterators that request their pages when needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, TypeVar, cast

from ._call import Listing
from ._engine import AsyncEngine, Engine
from .errors import InvalidAnswerError

Entry = TypeVar("Entry")
Page = TypeVar("Page")


class Pages(Generic[Entry, Page]):
    """All entries of a list. Each iteration starts again."""

    def __init__(self, engine: Engine, listing: Listing[Entry, Page]) -> None:
        self._engine = engine
        self._listing = listing

    def __iter__(self) -> Iterator[Entry]:
        for page in self.pages():
            yield from _entries(page)

    def pages(self) -> Iterator[Page]:
        """Page by page, with the page's other members."""
        listing: Listing[Entry, Page] | None = self._listing
        while listing is not None:
            page = self._engine.send(listing).value
            yield page
            listing = _next(listing, page)

    def after(self, cursor: str) -> Pages[Entry, Page]:
        """The same list from a `next_cursor` on."""
        return Pages(self._engine, self._listing.at(cursor))

    def page(self) -> Page:
        """Only the first page."""
        return _checked(self._engine.send(self._listing).value)


class AsyncPages(Generic[Entry, Page]):
    """All entries of a list, for `async for`. Each iteration starts again."""

    def __init__(self, engine: AsyncEngine, listing: Listing[Entry, Page]) -> None:
        self._engine = engine
        self._listing = listing

    async def __aiter__(self) -> AsyncIterator[Entry]:
        async for page in self.pages():
            for entry in _entries(page):
                yield entry

    async def pages(self) -> AsyncIterator[Page]:
        """Page by page, with the page's other members."""
        listing: Listing[Entry, Page] | None = self._listing
        while listing is not None:
            page = (await self._engine.send(listing)).value
            yield page
            listing = _next(listing, page)

    def after(self, cursor: str) -> AsyncPages[Entry, Page]:
        """The same list from a `next_cursor` on."""
        return AsyncPages(self._engine, self._listing.at(cursor))

    async def page(self) -> Page:
        """Only the first page."""
        return _checked((await self._engine.send(self._listing)).value)


def _checked(page: Page) -> Page:
    _entries(page)
    return page


def _entries(page: object) -> list[Any]:
    return cast("list[Any]", _member(page, "items"))


def _next(listing: Listing[Entry, Page], page: object) -> Listing[Entry, Page] | None:
    cursor = _member(page, "next_cursor")
    return None if cursor is None else listing.at(str(cursor))


def _member(page: object, name: str) -> object:
    if not isinstance(page, dict) or name not in page:
        raise InvalidAnswerError(f"a page of a list has no {name!r}")
    return cast("object", page[name])
