"""A request as data, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, final

T_co = TypeVar("T_co", covariant=True)
Entry_co = TypeVar("Entry_co", covariant=True)
Page_co = TypeVar("Page_co", covariant=True)


@final
class NotGiven:
    """The type of `NOT_GIVEN`: a member that is omitted, where `None` sends null."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __bool__(self) -> Literal[False]:
        return False


NOT_GIVEN = NotGiven()


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """One request, and the type of its value (`T`)."""

    operation: str
    method: str
    path: str
    answers: Literal["json", "text", "none"]
    ids: tuple[str | int, ...] = ()
    query: Mapping[str, object] = field(default_factory=dict)
    # A header of the operation that was not passed is None.
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: object = None
    accept: str | None = None

    def with_headers(self, **values: str | None) -> Call[T_co]:
        """A copy with further headers; in their names `_` becomes `-`."""
        named = {name.replace("_", "-"): value for name, value in values.items()}
        return replace(self, headers={**self.headers, **named})


@dataclass(frozen=True)
class Listing(Call[Page_co], Generic[Entry_co, Page_co]):
    """A request for a page (`Page`) of a list of entries (`Entry`)."""

    def at(self, cursor: str) -> Listing[Entry_co, Page_co]:
        """A copy for the page that begins at this cursor."""
        return replace(self, query={**self.query, "cursor": cursor})


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """A value with the response's headers."""

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
        """Whether it is the saved response of an earlier request with the same `Idempotency-Key`."""
        return self.headers.get("idempotency-replayed") == "true"

    @property
    def request_id(self) -> str | None:
        """The id of the request in the service's log."""
        return self.headers.get("x-request-id")


def members(**values: object) -> dict[str, Any]:
    """A body of the members that were passed."""
    return {name: value for name, value in values.items() if not isinstance(value, NotGiven)}


def entity_tag(given: str | None) -> str | None:
    """An entity tag for a header: `*` and quoted tags unchanged, a bare context_id in quotes."""
    if given is None or given == "*" or '"' in given:
        return given
    return f'"{given}"'
