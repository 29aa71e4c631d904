"""openapi.yaml as the tests read it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

FILE = Path(__file__).parents[3] / "openapi.yaml"


@cache
def root() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return found


def members(name: str) -> dict[str, bool]:
    """The members of a schema, and whether they are required."""
    return _members(root()["components"]["schemas"][name])


def _members(schema: dict[str, Any]) -> dict[str, bool]:
    if "$ref" in schema:
        return members(schema["$ref"].rpartition("/")[2])
    found: dict[str, bool] = {}
    for part in schema.get("allOf", []):
        found |= _members(part)
    return found | {one: one in schema.get("required", []) for one in schema.get("properties", {})}


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Path, method and description of each operation."""
    return [(path, method.upper(), one) for path, methods in root()["paths"].items() for method, one in methods.items()]


@cache
def validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": pointer, "components": root()["components"], "paths": root()["paths"]})


def operation_of(method: str, path: str) -> tuple[str, str, dict[str, Any]]:
    """The operation that a request is for."""
    for template, name, one in operations():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
        if name == method and re.fullmatch(pattern, path):
            return template, name, one
    raise AssertionError(f"no operation is for {method} {path}")


def fault_of_answer(method: str, path: str, status: int, kind: str, value: Any) -> str | None:
    """What of a JSON answer is not as the document says."""
    template, name, one = operation_of(method, path)
    answer = one["responses"].get(str(status))
    if answer is None:
        return f"{one['operationId']} has no answer {status}"
    parts = ["paths", template, name.lower(), "responses", str(status)]
    if "$ref" in answer:
        parts = answer["$ref"].removeprefix("#/").split("/")
        answer = root()["components"]["responses"][parts[-1]]
    if kind not in {media.partition(";")[0] for media in answer.get("content", {})}:
        return f"{one['operationId']} {status} is not {kind}"
    pointer = "#/" + "/".join(
        part.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
        for part in (*parts, "content", kind, "schema")
    )
    faults = list(validator(pointer).iter_errors(value))
    return f"{one['operationId']} {status}: {faults[0].json_path}: {faults[0].message}" if faults else None
