"""Parses openapi.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Schema = dict[str, Any]

# Operations whose whole body is one value, by the name of the parameter.
WHOLE_BODY = {"PutContext": "document", "PutItems": "items", "PutVaultItems": "items"}
WHOLE_BODY |= {"PutMemoryFile": "document", "RunMemoryTool": "command", "SpeakMcp": "message"}
# Parameters that are one string in HTTP and a list in Python.
COMMA_SEPARATED = {"include", "exclude", "kinds"}
# Parameters of other response formats, which streams.py and queue.py use.
HANDLED_ELSEWHERE = {"Prefer", "Last-Event-ID"}


def snake(name: str) -> str:
    """GetOpenApi is get_open_api, Last-Event-ID is last_event_id."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\W]+", name))


def reference(schema: Schema) -> str | None:
    """The name of the referenced schema."""
    found = schema.get("$ref")
    return None if found is None else str(found).rsplit("/", 1)[-1]


def references(schema: Any) -> set[str]:
    """Every schema that is referenced anywhere within."""
    if isinstance(schema, list):
        return set().union(*(references(part) for part in schema))
    if not isinstance(schema, dict):
        return set()
    own = reference(schema)
    return ({own} if own else set()).union(*(references(part) for part in schema.values()))


def nullable(schema: Schema) -> tuple[Schema, bool]:
    """A schema without its null, and whether it had one."""
    choices = schema.get("oneOf", [])
    rest = [choice for choice in choices if choice.get("type") != "null"]
    if len(rest) != len(choices):
        return (rest[0] if len(rest) == 1 else {**schema, "oneOf": rest}), True
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        return {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}, len(kinds) != len(kind)
    return schema, False


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    id: str
    method: str
    path: str
    tag: str
    description: Schema

    @property
    def name(self) -> str:
        return snake(self.id)

    def parameters(self, place: str) -> list[Schema]:
        return [one for one in self.description.get("parameters", []) if one["in"] == place]

    def headers(self) -> list[str]:
        return [one["name"] for one in self.parameters("header")]

    def body(self) -> dict[str, Schema]:
        """The schemas of the body by media type."""
        content = self.description.get("requestBody", {}).get("content", {})
        return {kind: part["schema"] for kind, part in content.items()}

    def answers(self) -> dict[str, Schema]:
        """The schemas of the first successful response by media type."""
        for status in sorted(self.description["responses"]):
            if status.startswith("2"):
                content = self.description["responses"][status].get("content", {})
                return {kind.split(";")[0]: part["schema"] for kind, part in content.items()}
        raise ValueError(f"{self.id} has no successful answer")


def _module(tag: str, path: str) -> str:
    """The module of an operation: by its tag; of the largest tag, versions are separate."""
    return "versions" if "/contexts" in path else tag


class Document:
    """All of it."""

    def __init__(self, file: Path) -> None:
        self.root = yaml.safe_load(file.read_text())
        self.schemas: dict[str, Schema] = self.root["components"]["schemas"]
        for name in [one.removeprefix("List_") for one in self.schemas if one.startswith("List_")]:
            # Some entries are defined only within their list.
            self.schemas.setdefault(name, self.schemas[f"List_{name}"]["properties"]["items"]["items"])
        self.operations = [
            Operation(one["operationId"], method.upper(), path, _module(one["tags"][0], path), one)
            for path, methods in self.root["paths"].items()
            for method, one in methods.items()
        ]

    def tags(self) -> list[str]:
        return sorted({one.tag for one in self.operations})

    def needs(self, name: str) -> set[str]:
        """The schemas that one is made of. A list spells its entries out once more; they are the same."""
        if name.startswith("List_"):
            return {name.removeprefix("List_")}
        return references(self.schemas[name]) - {name}

    def closure(self, schema: Any) -> set[str]:
        """Every schema that is needed for this one."""
        found: set[str] = set()
        waiting = references(schema)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting |= self.needs(name)
        return found

    def homes(self) -> dict[str, str]:
        """The module of each schema: the tag that uses it, `common` where several do."""
        users: dict[str, set[str]] = {}
        for one in self.operations:
            for name in self.closure(one.description):
                users.setdefault(name, set()).add(one.tag)
        homes = {name: next(iter(tags)) if len(tags) == 1 else "common" for name, tags in users.items()}
        homes = {name: "contexts" if home == "versions" else home for name, home in homes.items()}
        return homes | {name: "messages" for name in homes if name.startswith("Message")}
