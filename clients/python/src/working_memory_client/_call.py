"""A request as data, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypedDict, TypeVar, final
from urllib.parse import quote

from .errors import InvalidAnswerError

T_co = TypeVar("T_co", covariant=True)
Entry_co = TypeVar("Entry_co", covariant=True)
Page_co = TypeVar("Page_co", covariant=True)


@final
class NotGiven:
    """The type of `NOT_GIVEN`: a member that is left out, where `None` sends null."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


class WriteOptions(TypedDict, total=False):
    """What every call that changes something accepts."""

    actor: str | None
    """The author, if it is not the client's."""
    idempotency_key: str | None
    """Calls with the same key are executed once; without it each call has a random key for all its attempts."""


class ChangeOptions(WriteOptions, total=False):
    """What every call that changes a document accepts."""

    if_match: str | None
    """Only if this is the newest version: its `context_id`."""
    if_none_match: str | None
    """`*`: only if there is no memory yet."""


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """One request, and the type of its value (`T`)."""

    method: str
    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: object = None
    answers: Literal["json", "text", "none", "any"] = "json"
    accept: str | None = None
    # Whether it takes an actor, and whether an Idempotency-Key is made for it.
    writes: bool = False
    keyed: bool = True
    # Whether it waits for models.
    slow: bool = False


@dataclass(frozen=True)
class Listing(Call[Page_co], Generic[Entry_co, Page_co]):
    """A request for a page (`Page`) of a list of entries (`Entry`)."""

    def at(self, cursor: str) -> Listing[Entry_co, Page_co]:
        """A copy for the page that begins at this cursor."""
        return replace(self, query={**self.query, "cursor": cursor})


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """A value with its response's status and headers."""

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
        if number is None:
            return None
        try:
            return int(number)
        except ValueError as fault:
            raise InvalidAnswerError(f"X-Context-Version is not a number: {number[:20]}") from fault

    @property
    def replayed(self) -> bool:
        """Whether it is the saved response of an earlier request with the same `Idempotency-Key`."""
        return self.headers.get("idempotency-replayed") == "true"

    @property
    def request_id(self) -> str | None:
        """The id of the request in the service's log."""
        return self.headers.get("x-request-id")


class Result(dict[str, Any]):
    """A JSON object of the service that remembers its response."""

    response: Answer[Any] | None = None


def response_of(value: object) -> Answer[Any] | None:
    """The response from which an object was read: `status`, `etag`, `request_id`, `version`, `replayed`."""
    return getattr(value, "response", None)


def write(
    method: str, path: str, body: object = None, options: Any = None, query: Mapping[str, object] | None = None
) -> Call[Any]:
    """A call that changes something, with its `WriteOptions` or `ChangeOptions`."""
    given = dict(options or {})
    headers = {
        "X-Actor-Id": given.pop("actor", None),
        "Idempotency-Key": given.pop("idempotency_key", None),
        "If-Match": entity_tag(given.pop("if_match", None)),
        "If-None-Match": entity_tag(given.pop("if_none_match", None)),
    }
    if given:
        raise TypeError(f"unknown option: {', '.join(given)}")
    return Call(method, path, query or {}, headers, body, writes=True)


def members(**values: object) -> dict[str, Any]:
    """A body of the members that were passed: `None` is left out."""
    return {name: value for name, value in values.items() if value is not None}


def nullable(**values: object) -> dict[str, Any]:
    """Like `members`, with `None` as null."""
    return {name: value for name, value in values.items() if not isinstance(value, NotGiven)}


def segment(value: str | int) -> str:
    """An id as a segment of a URL."""
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is not an id: it would change the URL")
    return quote(text, safe=":@")


def entity_tag(given: str | None) -> str | None:
    """An entity tag for a header: `*` and quoted tags unchanged, a bare context_id in quotes."""
    if given is None or given == "*" or '"' in given:
        return given
    return f'"{given}"'
