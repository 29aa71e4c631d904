"""The retry logic, without any sending, for both kinds of clients."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass

import httpx

from ._wire import Request
from .problems import ConnectionFailed, ModelFailed, NotModified, Problem, StillRunning, problem

# Transient statuses. 500 is a fault and not retried.
PASSING = frozenset({408, 429, 502, 503, 504})
# Statuses of requests that were not executed: safe to retry, whatever the request is.
UNTOUCHED = frozenset({429})
# Failures in which no byte of the request was read.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# Permanent failures.
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.TooManyRedirects)


@dataclass(frozen=True)
class Retry:
    """A retry policy.

    Attributes:
        attempts: The maximum number of attempts; 1 never retries.
        first: About how many seconds to wait before the second attempt; doubled each time.
        longest: The maximum wait in seconds, if the service does not specify one.
        longest_asked: The longest `Retry-After` that is waited for; a longer one is raised at once.
    """

    attempts: int = 5
    first: float = 0.25
    longest: float = 8.0
    longest_asked: float = 60.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {self.attempts}")

    def wait(self, attempt: int, asked: float | None) -> float:
        """The wait after the attempt of this number, from 1: with jitter, and never less than requested."""
        bound = min(self.longest, self.first * 2.0 ** min(attempt - 1, 30))
        return (asked or 0.0) + random.uniform(bound / 2, bound)


@dataclass(frozen=True)
class Send:
    """Send it, and return the response or the failure."""

    request: Request


@dataclass(frozen=True)
class Sleep:
    """Wait this long."""

    seconds: float


Outcome = httpx.Response | httpx.RequestError | None
Steps = Generator[Send | Sleep, Outcome, httpx.Response]


def attempts(request: Request, retry: Retry) -> Steps:
    """The steps of one request, to its successful response or the exception it ends with."""
    doubtful = False
    for attempt in range(1, retry.attempts + 1):
        outcome = yield Send(request)
        if isinstance(outcome, httpx.Response):
            if outcome.is_success or (doubtful and _deleted_before(request, outcome)):
                return outcome
            refused = _refused(outcome)
            failure: Problem | ConnectionFailed = refused
            asked = refused.retry_after
        else:
            failure, asked = _broken(request, outcome), None
            if isinstance(outcome, HOPELESS):
                raise failure from outcome
        if attempt == retry.attempts or not _again(request, outcome, failure):
            raise failure from (outcome if isinstance(outcome, Exception) else None)
        if asked is not None and asked > retry.longest_asked:
            raise failure
        doubtful = doubtful or not isinstance(outcome, UNSENT)
        yield Sleep(retry.wait(attempt, asked))
    raise AssertionError("the last attempt returns or raises")


def repeatable(request: Request) -> bool:
    """Whether it may be retried when its outcome is unknown."""
    return request.method in ("GET", "DELETE") or "Idempotency-Key" in request.headers


def _again(request: Request, outcome: Outcome, failure: Problem | ConnectionFailed) -> bool:
    if isinstance(failure, Problem):
        if isinstance(failure, ModelFailed):
            return False
        if isinstance(failure, StillRunning):
            return True
        return failure.status in UNTOUCHED or (failure.status in PASSING and repeatable(request))
    return isinstance(outcome, UNSENT) or repeatable(request)


def _deleted_before(request: Request, response: httpx.Response) -> bool:
    """Whether an earlier attempt without a response has already deleted what this one does not find."""
    return request.removes and response.status_code == httpx.codes.NOT_FOUND


def _refused(response: httpx.Response) -> Problem:
    if response.status_code == httpx.codes.NOT_MODIFIED:
        raise NotModified(f"not modified: it still has the entity tag {response.headers.get('etag')}")
    return problem(response.status_code, response.headers, response.content)


def _broken(request: Request, cause: httpx.RequestError | None) -> ConnectionFailed:
    return ConnectionFailed(f"{request.operation}: {type(cause).__name__}: {cause}")
