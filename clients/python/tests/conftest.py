"""What the tests share."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from service import Service

from working_memory_client import Client, Memory

sys.path.insert(0, str(Path(__file__).parents[2]))  # stub.py, which the tests of both clients use

NUMBERS = itertools.count(1)

# Pydantic AI needs Python 3.11; all else is tested on 3.10, too.
collect_ignore = [] if sys.version_info >= (3, 11) else ["test_pydantic_ai.py", "test_readme.py"]


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """An open service, one for all tests."""
    with Service() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("WORKING_MEMORY_") and name != "WORKING_MEMORY_BIN"]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def client(service: Service) -> Iterator[Client]:
    with Client(service.url) as made:
        yield made


@pytest.fixture
def vault() -> str:
    """A vault that no other test has."""
    return f"vault-{next(NUMBERS)}"


@pytest.fixture
def memory(client: Client, vault: str) -> Memory:
    """A memory that does not exist yet."""
    return client.memory(vault, "agent-1")
