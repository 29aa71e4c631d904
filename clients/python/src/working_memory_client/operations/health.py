"""Operations on health.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from .._call import Call


def get_health() -> Call[str]:
    """Whether the process is alive.

    It asks nobody else: a database that is away is no reason to restart the service.
    """
    return Call(
        operation="GetHealth",
        method="GET",
        path="/healthz",
        answers="text",
    )


def get_metrics() -> Call[str]:
    """The metrics of the process, for Prometheus."""
    return Call(
        operation="GetMetrics",
        method="GET",
        path="/metrics",
        answers="text",
    )


def get_open_api() -> Call[str]:
    """This document."""
    return Call(
        operation="GetOpenApi",
        method="GET",
        path="/openapi.yaml",
        answers="text",
    )


def get_readiness() -> Call[str]:
    """Whether the service can work.

    Asks the database, whether its schema is that of this program, and whether writes get through. The answer names
    each check with `ok`; a problem has them as `checks`, with `ok`, `failed` or `unknown`.
    """
    return Call(
        operation="GetReadiness",
        method="GET",
        path="/readyz",
        answers="text",
    )
