"""The rules of clients/rules.md about attempts, without any sending: for both kinds of clients."""

from __future__ import annotations

import random
import time
from collections.abc import Generator
from dataclasses import dataclass, replace

import httpx

from ._wire import Request
from .errors import (
    ConnectionFailedError,
    ModelError,
    NotModifiedError,
    PreconditionFailedError,
    ProblemError,
    StillRunningError,
    TimedOutError,
    is_missing,
    problem,
)

RETRIES = 3
TIMEOUT, UPDATE_TIMEOUT = 30.0, 600.0
# A call may take so many times its timeout in all; one that waits for models only once.
TOTAL = 3
# The longest time-out: operating systems refuse longer ones.
LONGEST_TIMEOUT = 2.0**31 / 1000
# The wait before the first retry, which doubles each time; the longest; the longest Retry-After that is waited for.
FIRST, LONGEST, LONGEST_ASKED = 0.25, 8.0, 60.0

# Transient statuses. 500 is a fault and not retried.
PASSING = frozenset({408, 429, 502, 503, 504})
# Failures in which no byte of the request was read.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# Permanent failures.
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
# All that httpx raises about a request.
FOREIGN = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL)


@dataclass(frozen=True)
class Reply:
    """A response that was read."""

    status: int
    headers: httpx.Headers
    content: bytes


@dataclass(frozen=True)
class Send:
    """Send it within so many seconds, and return the response or the failure."""

    request: Request
    seconds: float


@dataclass(frozen=True)
class Sleep:
    """Wait this long."""

    seconds: float


@dataclass(frozen=True)
class Limits:
    """How long and how often."""

    retries: int = RETRIES
    timeout: float = TIMEOUT
    update_timeout: float = UPDATE_TIMEOUT

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must not be negative: {self.retries}")
        if not (self.timeout > 0 and self.update_timeout > 0):
            raise ValueError("a timeout must be positive")
        for name in ("timeout", "update_timeout"):
            object.__setattr__(self, name, min(getattr(self, name), LONGEST_TIMEOUT))

    def changed(self, timeout: float | None, retries: int | None) -> Limits:
        """With these, where they are given."""
        limits = self if timeout is None else replace(self, timeout=timeout, update_timeout=timeout)
        return limits if retries is None else replace(limits, retries=retries)


Outcome = Reply | Exception | None
Steps = Generator[Send | Sleep, Outcome, Reply]


def wait(attempt: int, asked: float | None) -> float:
    """The wait after the attempt of this number, from 1: with jitter, and never less than asked."""
    bound = min(LONGEST, FIRST * 2.0 ** min(attempt - 1, 30))
    return (asked or 0.0) + random.uniform(bound / 2, bound)


def attempts(request: Request, limits: Limits) -> Steps:
    """The steps of one request, to its successful response or the exception it ends with."""
    seconds = limits.update_timeout if request.slow else limits.timeout
    end = time.monotonic() + seconds * (1 if request.slow else TOTAL)
    doubtful = False
    attempt = 1
    while True:
        outcome = yield Send(request, min(seconds, max(0.001, end - time.monotonic())))
        if isinstance(outcome, Reply):
            if 200 <= outcome.status < 300:
                return outcome
            failure: ProblemError | ConnectionFailedError = _refused(outcome)
            if doubtful and request.removes and _is_missing(failure):
                return outcome
        else:
            failure = _broken(request, outcome, seconds)
        asked = failure.retry_after if isinstance(failure, ProblemError) else None
        pause = wait(attempt, asked)
        late = time.monotonic() + pause >= end or (asked is not None and asked > LONGEST_ASKED)
        if attempt > limits.retries or late or not _again(request, outcome, failure):
            raise failure from (outcome if isinstance(outcome, Exception) else None)
        refused = isinstance(outcome, Reply) and outcome.status == httpx.codes.TOO_MANY_REQUESTS
        doubtful = doubtful or not (refused or isinstance(outcome, UNSENT))
        yield Sleep(pause)
        attempt += 1


def repeatable(request: Request) -> bool:
    """Whether it may be retried when its outcome is unknown."""
    return request.method in ("GET", "DELETE") or "idempotency-key" in request.headers


def _again(request: Request, outcome: Outcome, failure: ProblemError | ConnectionFailedError) -> bool:
    if isinstance(failure, ProblemError):
        if isinstance(failure, ModelError):
            return False
        if isinstance(failure, StillRunningError):
            return True
        # A request that was refused with 429 was not executed.
        return failure.status == 429 or (failure.status in PASSING and repeatable(request))
    if isinstance(outcome, HOPELESS):
        return False
    return isinstance(outcome, UNSENT) or repeatable(request)


def _is_missing(failure: ProblemError | ConnectionFailedError) -> bool:
    """Whether nothing is there: then an earlier attempt without a response has deleted it."""
    if isinstance(failure, PreconditionFailedError):
        return failure.kind == "precondition-failed" and failure.current is None
    return is_missing(failure)


def _refused(reply: Reply) -> ProblemError:
    if reply.status == httpx.codes.NOT_MODIFIED:
        raise NotModifiedError(f"not modified: it still has the entity tag {reply.headers.get('etag')}")
    return problem(reply.status, reply.headers, reply.content)


def _broken(request: Request, cause: Exception | None, seconds: float) -> ConnectionFailedError:
    if isinstance(cause, httpx.TimeoutException):
        return TimedOutError(f"{request.method} {request.path}: no answer within {seconds:g} seconds")
    return ConnectionFailedError(f"{request.method} {request.path}: {type(cause).__name__}: {cause}")
