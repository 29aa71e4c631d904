"""A request as data: what an operation asks, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, final

T_co = TypeVar("T_co", covariant=True)
Entry_co = TypeVar("Entry_co", covariant=True)
Page_co = TypeVar("Page_co", covariant=True)


@final
class NotGiven:
    """The type of `NOT_GIVEN`: a member that is left out, where `None` says null."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __bool__(self) -> Literal[False]:
        return False


NOT_GIVEN = NotGiven()


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """One request, and what its answer is (`T`)."""

    operation: str
    method: str
    path: str
    answers: Literal["json", "text", "none"]
    ids: tuple[str | int, ...] = ()
    query: Mapping[str, object] = field(default_factory=dict)
    # A header that the operation takes and nobody gave is None.
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: object = None
    accept: str | None = None

    def with_headers(self, **values: str | None) -> Call[T_co]:
        """The same with further headers; in their names `_` is `-`."""
        named = {name.replace("_", "-"): value for name, value in values.items()}
        return replace(self, headers={**self.headers, **named})


@dataclass(frozen=True)
class Listing(Call[Page_co], Generic[Entry_co, Page_co]):
    """A request for a page (`Page`) of a list of entries (`Entry`)."""

    def at(self, cursor: str) -> Listing[Entry_co, Page_co]:
        """The same for the page that begins there."""
        return replace(self, query={**self.query, "cursor": cursor})


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """An answer with what its headers say."""

    value: T_co
    status: int
    headers: Mapping[str, str]

    @property
    def etag(self) -> str | None:
        """The entity tag, for `if_match` and `if_none_match`."""
        return self.headers.get("etag")

    @property
    def version(self) -> int | None:
        """The number of the version that was read or made."""
        number = self.headers.get("x-context-version")
        return None if number is None else int(number)

    @property
    def replayed(self) -> bool:
        """Whether it is the answer that an earlier request with the same `Idempotency-Key` got."""
        return self.headers.get("idempotency-replayed") == "true"

    @property
    def request_id(self) -> str | None:
        """What the service's log calls the request."""
        return self.headers.get("x-request-id")


def members(**values: object) -> dict[str, Any]:
    """A body of those members that were given."""
    return {name: value for name, value in values.items() if not isinstance(value, NotGiven)}


def entity_tag(given: str | None) -> str | None:
    """An entity tag as it is sent: `*`, quoted tags as they are, a bare context_id in quotes."""
    if given is None or given == "*" or '"' in given:
        return given
    return f'"{given}"'
