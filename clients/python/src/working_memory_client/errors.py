"""The exceptions, one class for each kind that callers handle differently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, cast

from .types import Rejection

PREFIX = "urn:working-memory:problem:"


class WorkingMemoryError(Exception):
    """The base class of all exceptions of this package about the service."""


class ConnectionFailedError(WorkingMemoryError):
    """The service was not reached, or the connection was lost; `__cause__` has the reason."""


class TimedOutError(ConnectionFailedError):
    """There was no answer in time."""


class InvalidAnswerError(WorkingMemoryError):
    """A response that is not the service's: another server, or a proxy that changes responses."""


class NotModifiedError(WorkingMemoryError):
    """304: the entity tag is that of `if_none_match`."""


class EventsLostError(WorkingMemoryError):
    """Events after the last one have expired: read the memories, and open a stream after `last_event_id`."""

    def __init__(self, detail: str, last_event_id: str | None) -> None:
        super().__init__(detail, last_event_id)
        self.last_event_id = last_event_id

    def __str__(self) -> str:
        return str(self.args[0])


class StillWaitingError(WorkingMemoryError):
    """The time to wait is over."""


class ProblemError(WorkingMemoryError):
    """An error response of the service (RFC 9457)."""

    status: int
    """The status of the response."""
    type: str
    """The kind of the problem: a stable URI."""
    title: str
    """The kind in words."""
    detail: str
    """What is wrong with this request."""
    members: Mapping[str, Any]
    """All members of the problem."""
    request_id: str | None
    """The id of the request in the service's log."""
    retry_after: float | None
    """How many seconds to wait before another attempt."""

    def __init__(self, status: int, members: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        self.members = members
        self.type = str(members.get("type", "about:blank"))
        self.title = str(members.get("title", f"HTTP status {status}"))
        self.detail = str(members.get("detail", ""))
        self.request_id = headers.get("x-request-id")
        self.retry_after = retry_after(headers.get("retry-after"))
        super().__init__(status, members, dict(headers))

    def __str__(self) -> str:
        """One line: status, kind, detail, field and limit where the detail does not name them, request."""
        parts = [f"{self.status} {self.kind or self.title}"]
        if self.detail:
            parts.append(self.detail)
        for name, value in (("field", self.field), ("limit", self.limit), ("request", self.request_id)):
            if value is not None and str(value) not in self.detail:
                parts.append(f"{name} {value}")
        return ": ".join(parts[:2]) + "".join(f" ({part})" for part in parts[2:])

    @property
    def kind(self) -> str:
        """The last part of `type`, such as `not-found`; empty if the response is not the service's."""
        return self.type.removeprefix(PREFIX) if self.type.startswith(PREFIX) else ""

    @property
    def field(self) -> str | None:
        """The part of the request that is wrong."""
        return self._text("field")

    @property
    def limit(self) -> float | int | None:
        """The limit that was exceeded."""
        found = self.members.get("limit")
        return found if isinstance(found, (int, float)) else None

    @property
    def update_id(self) -> str | None:
        """The saved run of a failed update."""
        return self._text("update_id")

    def _text(self, name: str) -> str | None:
        found = self.members.get(name)
        return None if found is None else str(found)


class BadRequestError(ProblemError):
    """400: the request cannot be parsed."""


class UnauthorizedError(ProblemError):
    """401: no key, or an invalid one."""


class ForbiddenError(ProblemError):
    """403: the key does not have this right."""

    @property
    def required_role(self) -> str | None:
        """The role that is required."""
        return self._text("required_role")


class NotFoundError(ProblemError):
    """404: it does not exist, or is in a vault that the key does not reach."""


def is_missing(error: object) -> bool:
    """Whether the service says that something is not there. The 404 of another server says nothing."""
    return isinstance(error, NotFoundError) and error.kind == "not-found"


class ConflictError(ProblemError):
    """409: the state of the memory, or of the run, does not allow it."""

    @property
    def run_status(self) -> str | None:
        """The status of the run, if one was decided already."""
        return self._text("run_status")


class CollapseError(ConflictError):
    """409: the put would lose much of the document; pass `confirm="collapse"` if it is intended."""


class StillRunningError(ConflictError):
    """409: the first request with this `Idempotency-Key` is still running."""


class GoneError(ProblemError):
    """410: the text was redacted or deleted."""


class PreconditionFailedError(ProblemError):
    """412: `if_match` or `if_none_match` is not satisfied."""

    @property
    def current(self) -> str | None:
        """The `context_id` of the newest version, to be passed as `if_match`; None if there is no memory."""
        return self._text("current")


class TooLargeError(ProblemError):
    """413: the body is over `limit`."""


class InvalidError(ProblemError):
    """422: the request can be parsed but is not valid; `field` names what."""

    @property
    def rejected(self) -> list[Rejection]:
        """Of operations: the faulty ones, each with its kind and what is wrong with it."""
        return cast("list[Rejection]", self.members.get("rejected") or [])

    def __str__(self) -> str:
        """With the faults of the operations."""
        return "\n".join([super().__str__(), *(f"- {one['kind']}: {one['detail']}" for one in self.rejected)])


class KeyReusedError(InvalidError):
    """422: the `Idempotency-Key` belongs to another request."""


class RateLimitedError(ProblemError):
    """429: too many requests at once, or the day's tokens are used up; `retry_after` says when to retry."""

    @property
    def opens_at(self) -> datetime | None:
        """When a used-up quota of tokens is available again."""
        found = self._text("opens_at")
        return None if found is None else datetime.fromisoformat(found.replace("Z", "+00:00"))


class ServerError(ProblemError):
    """500: a fault of the service; its log has the cause under `request_id`."""


class ModelError(ProblemError):
    """502: a model failed; nothing was saved."""


class ModelTimeoutError(ModelError):
    """504: a model did not answer in time; nothing was saved."""


class UnavailableError(ProblemError):
    """502, 503, 504: the service is full, out of time, without its database, or unreachable behind its proxy."""


class _Kinds:
    """The class of each kind of problem."""

    by_kind: ClassVar[Mapping[str, type[ProblemError]]] = {
        "collapse": CollapseError,
        "still-running": StillRunningError,
        "key-reused": KeyReusedError,
        "model-failed": ModelError,
        "model-timeout": ModelTimeoutError,
    }
    by_status: ClassVar[Mapping[int, type[ProblemError]]] = {
        400: BadRequestError,
        401: UnauthorizedError,
        403: ForbiddenError,
        404: NotFoundError,
        409: ConflictError,
        410: GoneError,
        412: PreconditionFailedError,
        413: TooLargeError,
        422: InvalidError,
        429: RateLimitedError,
        500: ServerError,
        502: UnavailableError,
        503: UnavailableError,
        504: UnavailableError,
    }


def problem(status: int, headers: Mapping[str, str], content: bytes) -> ProblemError:
    """The problem of a response; the text of a proxy becomes `detail`."""
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict) or not isinstance(members.get("type"), str):
        moved = headers.get("location")
        said = content[:200].decode(errors="replace").strip()
        members = {"detail": f"redirects are not followed; the address is now {moved[:200]}" if moved else said}
    kind = str(members.get("type", "")).removeprefix(PREFIX)
    found = _Kinds.by_kind.get(kind) or _Kinds.by_status.get(status, ProblemError)
    return found(status, members, headers)


def retry_after(value: str | None) -> float | None:
    """The seconds of a `Retry-After`, which is a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
        seconds = (when - datetime.now(timezone.utc)).total_seconds()
    # NaN compares false. Infinite are both the word for it, which is nonsense, and a number of very many digits.
    if seconds < float("inf") or value.strip().isdigit():
        return max(0.0, seconds)
    return None
