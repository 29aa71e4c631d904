"""The operations: a function each, which describes one request."""

from __future__ import annotations

import keyword
import re
import textwrap
from dataclasses import dataclass, replace

from .document import (
    COMMA_SEPARATED,
    HANDLED_ELSEWHERE,
    WHOLE_BODY,
    Document,
    Operation,
    Schema,
    nullable,
    reference,
    snake,
)
from .types import accepted_type, class_name, one_line, python_type, quoted

HEADER = '''"""Operations on {tag}.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members

'''

# What is explained once, in the README.
EVERYWHERE = {"vault_id", "memory_id", "limit", "cursor", "X-Actor-Id", "If-Match", "If-None-Match", "Idempotency-Key"}
HEADER_NAMES = {"X-Actor-Id": "actor"}
# Histories are taken as the SDKs of others have them, their objects too.
TYPES = {("UpdateContext", "messages"): "Iterable[object]", ("SpeakMcp", "message"): "Mapping[str, Any]"}
TYPES |= {("PutMemoryFile", "document"): "str"}
TYPES |= {("RunMemoryTool", "command"): "Mapping[str, Any]", ("RecordTask", "outcome"): "Any"}
FORMATS = {"date-time": "datetime | str", "date": "date | str"}


@dataclass(frozen=True)
class Argument:
    """One argument of a function."""

    name: str
    type: str
    default: str | None
    doc: str
    sent: str
    place: str
    wire: str

    def declared(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


@dataclass(frozen=True)
class Form:
    """One form of an operation's answer, and the function that asks for it."""

    name: str
    result: str
    maker: str
    kind: str
    accept: str | None


def parameter_name(name: str) -> str:
    short = HEADER_NAMES.get(name, snake(name))
    return short + "_" if keyword.iskeyword(short) else short


def forms(operation: Operation) -> list[Form]:
    """What it can be asked for: JSON first, its text under a name of its own."""
    answers = operation.answers()
    if not answers:
        return [Form(operation.name, "None", "Call", "none", None)]
    found = []
    if "application/json" in answers:
        schema = answers["application/json"]
        result, maker = model(python_type(schema)), "Call"
        if "cursor" in [one["name"] for one in operation.parameters("query")]:
            maker = "Listing"
        name = "list_events" if operation.id == "StreamEvents" else operation.name
        # The protocol wants both to be accepted, whatever the answer is.
        accept = "application/json, text/event-stream" if operation.id == "SpeakMcp" else "application/json"
        found.append(Form(name, result, maker, "json", accept))
    texts = [kind for kind in answers if kind.startswith("text/") and kind != "text/event-stream"]
    texts += [kind for kind in answers if kind == "application/yaml"]
    if texts:
        name = operation.name + "_text" if found else operation.name
        found.append(Form(name, "str", "Call", "text", texts[0] if found else None))
    return found


def model(name: str) -> str:
    return re.sub(r"(?<!['\w])(?!Any\b|Literal\b|None\b|Sequence\b|Mapping\b|Iterable\b)([A-Z]\w+)", r"models.\1", name)


def entry(document: Document, result: str) -> str:
    """The type of the entries of a page."""
    for name, schema in document.schemas.items():
        if "models." + class_name(name) == result:
            parts = [schema, *schema.get("allOf", [])]
            lists = [reference(part) or name for part in parts if (reference(part) or name).startswith("List_")]
            return "models." + class_name(lists[0]).removesuffix("List")
    raise ValueError(f"{result} is no list")


def arguments(document: Document, operation: Operation) -> list[Argument]:
    found = [
        Argument(name := parameter_name(one["name"]), "str", None, _doc(one), name, "path", one["name"])
        for one in operation.parameters("path")
    ]
    # A version goes by its number too.
    found = [replace(one, type="str | int") if one.wire == "ref" else one for one in found]
    found += _body_arguments(document, operation)
    found += [_query_argument(one) for one in operation.parameters("query")]
    for one in operation.parameters("header"):
        if one["name"] not in HANDLED_ELSEWHERE:
            name = parameter_name(one["name"])
            sent = f"entity_tag({name})" if one["name"] in ("If-Match", "If-None-Match") else name
            found.append(Argument(name, "str | None", "None", _doc(one), sent, "header", one["name"]))
    return found


def _doc(described: Schema) -> str:
    return one_line(described.get("description") or described.get("schema", {}).get("description"))


def _query_argument(one: Schema) -> Argument:
    name, schema = parameter_name(one["name"]), one["schema"]
    kind = FORMATS.get(schema.get("format", ""), model(python_type(schema)))
    if one["name"] in COMMA_SEPARATED:
        kind = "str | Iterable[str]"
    if one["name"] in {"ref", "base"}:
        kind = "str | int"
    default = None if one.get("required") else "None"
    return Argument(name, kind + (" | None" if default else ""), default, _doc(one), name, "query", one["name"])


def _body_arguments(document: Document, operation: Operation) -> list[Argument]:
    body = operation.body()
    if not body:
        return []
    schema, _ = nullable(body["application/json"])
    if operation.id in WHOLE_BODY:
        name = WHOLE_BODY[operation.id]
        kind = TYPES.get((operation.id, name), model(accepted_type(schema)))
        if operation.id == "PutContext":
            kind = "str | Mapping[str, Any] | Sequence[Any]"
        elif name == "items":
            kind = "str | Sequence[models.ItemOfCategory]"
        doc = one_line(operation.description["requestBody"].get("description") or schema.get("description"))
        return [Argument(name, kind, None, doc, name, "body", "")]
    named = reference(schema)
    schema = document.schemas[named] if named else schema
    found = []
    for name, one in schema["properties"].items():
        kind = TYPES.get((operation.id, name), model(accepted_type(one)))
        if one.get("format") == "date-time":
            kind = kind.replace("str", "datetime | str", 1)
        default = None if name in schema.get("required", []) else "NOT_GIVEN"
        kind += " | NotGiven" if default else ""
        found.append(Argument(name, kind, default, _doc(one), name, "member", name))
    return found


def function(document: Document, operation: Operation, form: Form) -> str:
    """The text of one function."""
    every = arguments(document, operation)
    if form.name == "list_events":
        every = [one for one in every if one.place != "header"]
    first = [one for one in every if one.place in ("path", "body")]
    named = sorted((one for one in every if one not in first), key=lambda one: one.default is not None)
    head = ", ".join(
        [*(one.declared() for one in first), *(["*"] if named else []), *(one.declared() for one in named)]
    )
    result = (
        f"Listing[{entry(document, form.result)}, {form.result}]" if form.maker == "Listing" else f"Call[{form.result}]"
    )
    lines = [f"def {form.name}({head}) -> {result}:", f'    """{_docstring(operation, form, [*first, *named])}"""']
    lines.append(f"    return {form.maker}(")
    path = re.sub(r"\{\w+\}", "{}", operation.path)
    values = [one.sent for one in every if one.place == "path"]
    lines += [f"operation={operation.id!r},", f"method={operation.method!r},", f"path={path!r},"]
    if values:
        lines.append(f"ids=({', '.join(values)}{',' * (len(values) == 1)}),")
    for place, member in (("query", "query"), ("header", "headers")):
        pairs = [f"{one.wire!r}: {one.sent}" for one in every if one.place == place]
        if pairs:
            lines.append(f"{member}={{{', '.join(pairs)}}},")
    lines += _body_line(operation, every)
    if form.accept:
        lines.append(f"accept={form.accept!r},")
    lines += [f"answers={form.kind!r},", ")"]
    return "\n".join(lines) + "\n\n\n"


def _body_line(operation: Operation, every: list[Argument]) -> list[str]:
    for one in every:
        if one.place == "body":
            return [f"body={one.sent},"]
    pairs = [f"{one.wire}={one.sent}" for one in every if one.place == "member"]
    if not pairs:
        return []
    needed = operation.description["requestBody"].get("required", False)
    return [f"body=members({', '.join(pairs)}){'' if needed else ' or None'},"]


def _docstring(operation: Operation, form: Form, every: list[Argument]) -> str:
    summary = quoted((operation.description.get("summary") or operation.id).rstrip("."))
    if form.name.endswith("_text"):
        return f"{summary}, as text."
    text = summary + ".\n"
    if operation.description.get("description"):
        text += "\n" + wrapped(operation.description["description"], "    ")
    own = [one for one in every if one.wire not in EVERYWHERE]
    if own:
        text += "\n    Args:\n" + "".join(wrapped(f"{one.name}: {one.doc}", "        ", "    ") for one in own)
    return text.rstrip("\n") if text.count("\n") == 1 else text + "    "


def wrapped(text: str, indent: str, further: str = "") -> str:
    lines = textwrap.wrap(
        quoted(" ".join(text.split())), 118, initial_indent=indent, subsequent_indent=indent + further
    )
    return "\n".join(lines) + "\n"


def modules(document: Document) -> dict[str, str]:
    """The text of every file of operations/ by its name."""
    files = {}
    for tag in document.tags():
        own = [one for one in document.operations if one.tag == tag]
        files[f"{tag}.py"] = HEADER.format(tag=tag) + "".join(
            function(document, one, form) for one in own for form in forms(one)
        )
    files["__init__.py"] = (
        '"""One function an operation: what is asked, without asking it.\n\nWritten by tools/generate.py."""\n'
    )
    files["tables.py"] = tables(document)
    return files


TABLES = (
    ("ClientOperations", "Every operation.", "operation", "listing", ()),
    ("VaultOperations", "The operations within a vault.", "vault_operation", "vault_listing", ("vault_id",)),
    (
        "MemoryOperations",
        "The operations on a memory.",
        "memory_operation",
        "memory_listing",
        ("vault_id", "memory_id"),
    ),
)


def tables(document: Document) -> str:
    """Which operations the client, a vault and a memory have as methods."""
    tags = document.tags()
    text = '"""Which operations are methods of what.\n\n'
    text += 'Written by tools/generate.py from openapi.yaml: not to be changed by hand.\n"""\n\n'
    text += "from __future__ import annotations\n\n"
    text += "from .._methods import " + ", ".join(sorted(name for row in TABLES for name in row[2:4])) + "\n"
    text += "from . import " + ", ".join(tags) + "\n\n\n"
    for title, doc, plain, paged, ids in TABLES:
        text += f'class {title}:\n    """{doc}"""\n\n'
        for one in document.operations:
            if tuple(each["name"] for each in one.parameters("path"))[: len(ids)] != ids:
                continue
            for form in forms(one):
                maker = paged if form.maker == "Listing" else plain
                text += f"    {form.name} = {maker}({one.tag}.{form.name})\n"
        text += "\n\n"
    return text
