"""Routes, parameters and models are those of openapi.yaml."""

from __future__ import annotations

import inspect
import json
import sys
import typing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import document
import pytest
from jsonschema import Draft202012Validator

from working_memory_client import AsyncClient, AsyncMemory, Client, Listing, Memory, Vault, _wire, models
from working_memory_client._sources import Events, Steps
from working_memory_client.operations import updates
from working_memory_client.operations.tables import ClientOperations

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import generate
from openapi.types import class_name

OPERATIONS = document.operations()
# Those whose answer is a stream too, which Client.stream_events and Client.queue_update ask for.
ELSEWHERE = {"Prefer", "Last-Event-ID"}
NAMES = {"X-Actor-Id": "actor", "from": "from_"}


def test_what_is_written_from_the_document_is_up_to_date() -> None:
    assert generate.differences() == []


def functions(name: str) -> list[Any]:
    """The functions that ask for an operation: as JSON and as text."""
    found = [getattr(ClientOperations, each, None) for each in (name, f"{name}_text")]
    return [one.build for one in found if one is not None]


def example(schema: dict[str, Any]) -> Any:
    """A value that a schema allows."""
    if "$ref" in schema:
        return example(document.schemas()[schema["$ref"].rsplit("/", 1)[-1]])
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return example(schema["oneOf"][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [example(schema["items"])]
    if kind == "object":
        return {name: example(one) for name, one in schema.get("properties", {}).items()}
    formats = {"date-time": "2026-11-21T02:00:00Z", "date": "2026-11-21"}
    named = schema.get("example") if kind == "string" else None
    return {
        "string": named or formats.get(schema.get("format", ""), "a"),
        "integer": 1,
        "number": 1.5,
        "boolean": True,
    }[kind]


def arguments(build: Any, one: dict[str, Any]) -> dict[str, Any]:
    """A value for every argument of a function."""
    values: dict[str, Any] = {}
    for parameter in one.get("parameters", []):
        name = NAMES.get(parameter["name"], document.snake(parameter["name"]).replace("-", "_"))
        values[name] = example(parameter["schema"])
    content = one.get("requestBody", {}).get("content", {})
    if content:
        body = example(content["application/json"]["schema"])
        free = [
            name for name in inspect.signature(build).parameters if name in ("document", "items", "command", "message")
        ]
        values |= {free[0]: body} if free else body
    return {name: value for name, value in values.items() if name in inspect.signature(build).parameters}


@pytest.mark.parametrize(("path", "method", "one"), OPERATIONS, ids=[one["operationId"] for _, _, one in OPERATIONS])
def test_an_operation_asks_what_the_document_says(path: str, method: str, one: dict[str, Any]) -> None:
    found = functions("list_events" if one["operationId"] == "StreamEvents" else document.snake(one["operationId"]))
    assert found, "every operation is a method"
    asked: set[str] = set()
    for build in found:
        values = arguments(build, one)
        assert values.keys() == inspect.signature(build).parameters.keys(), (
            "nothing is an argument that is no parameter"
        )
        call = build(**values)
        request = _wire.request(call, key=None, actor=None)
        assert (call.operation, request.method) == (one["operationId"], method)
        ids = [str(values[document.snake(part[1:-1])]) for part in path.split("/") if part.startswith("{")]
        assert unquote(request.path) == _filled(path, ids)
        documented = {each["name"] for each in one.get("parameters", []) if each["in"] in ("query", "header")}
        sent = {name for name, _ in request.query} | set(request.headers)
        asked |= sent & documented
        assert sent - documented <= {"Accept", "User-Agent", "Content-Type"}
        kinds = {kind.partition(";")[0] for each in one["responses"].values() for kind in each.get("content", {})}
        assert set(request.headers.get("Accept", "*/*").split(", ")) <= kinds | {"*/*"}
        _check_body(request, one)
        paged = {"cursor", "limit"} <= documented and call.answers == "json"
        assert isinstance(call, Listing) == paged
    missing = {each["name"] for each in one.get("parameters", []) if each["in"] != "path"} - asked
    assert missing <= ELSEWHERE, "every parameter can be given"


def _filled(path: str, ids: list[str]) -> str:
    for one in ids:
        start, end = path.index("{"), path.index("}")
        path = path[:start] + one + path[end + 1 :]
    return path


def _check_body(request: _wire.Request, one: dict[str, Any]) -> None:
    content = one.get("requestBody", {}).get("content", {})
    if not content:
        assert request.content is None
        return
    kind = request.headers["Content-Type"].partition(";")[0]
    assert kind in content
    assert request.content is not None
    value = json.loads(request.content) if kind == "application/json" else request.content.decode()
    schema = {**content[kind]["schema"], "components": document.root()["components"]}
    faults = [fault.message for fault in Draft202012Validator(schema).iter_errors(value)]
    # Operations are given as a list or as a text; the example gives both.
    assert faults == [] or one["operationId"] == "ApplyOperations"


def test_no_method_is_without_an_operation() -> None:
    known = {document.snake(one["operationId"]) for _, _, one in OPERATIONS} | {"list_events"}
    for name in vars(ClientOperations):
        assert name.startswith("__") or name.removesuffix("_text") in known


def test_clients_of_both_kinds_and_all_scopes_have_what_is_theirs() -> None:
    for path, _, one in OPERATIONS:
        name = document.snake(one["operationId"])
        for kind in (Client, AsyncClient):
            assert hasattr(kind, name)
        assert hasattr(Vault, name) == ("{vault_id}" in path)
        for scope in (Memory, AsyncMemory):
            # A memory has the events of its vault that are its own.
            assert hasattr(scope, name) == ("{memory_id}" in path or name == "stream_events")


def test_forms_of_answers_with_methods_of_their_own_ask_for_them() -> None:
    later = Client("http://localhost").vault("v")._engine
    call = updates.update_context("v", "m", task="t")
    assert "Prefer" in {
        each["name"] for each in document.operation_of("POST", "/v1/vaults/v/memories/m/update")[2]["parameters"]
    }
    assert call.with_headers(Prefer="respond-async").headers["Prefer"] == "respond-async"
    later.http.close()
    for source in (Steps(call), Events("v", None, None, "12-9f0c44aa")):
        request = _wire.request(source.call(), key=None, actor=None)
        one = document.operation_of(request.method, request.path)[2]
        assert request.headers["Accept"] in one["responses"]["200"]["content"]
        documented = {each["name"] for each in one["parameters"]}
        assert set(request.headers) - {"Accept", "User-Agent", "Content-Type"} <= documented


PLAIN = {"string": str, "integer": int, "number": float, "boolean": bool}


def properties(schema: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """All members of an object, and those it must have."""
    members, required = dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        whole = document.schemas()[part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part
        more, needed = properties(whole)
        members |= more
        required |= needed
    return members, required


@pytest.mark.parametrize("name", [name for name, one in document.schemas().items() if properties(one)[0]])
def test_a_model_has_the_members_that_the_document_says(name: str) -> None:
    model = getattr(models, class_name(name))
    members, required = properties(document.schemas()[name])
    hints = typing.get_type_hints(model)
    assert hints.keys() == members.keys()
    assert model.__required_keys__ == required
    for member, schema in members.items():
        kind = schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        choices = [choice.get("type") for choice in schema.get("oneOf", [])]
        if hints[member] is not Any:
            assert (type(None) in typing.get_args(hints[member])) == ("null" in [*kinds, *choices])
        if isinstance(kind, str) and kind in PLAIN and "enum" not in schema:
            assert hints[member] is PLAIN[kind]
        if kind == "array":
            assert typing.get_origin(hints[member]) is list


@pytest.mark.parametrize("name", [name for name, one in document.schemas().items() if "enum" in one])
def test_a_choice_has_the_values_that_the_document_says(name: str) -> None:
    assert list(typing.get_args(getattr(models, class_name(name)))) == document.schemas()[name]["enum"]
