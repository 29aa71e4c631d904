"""The models: a TypedDict an object, an alias all else."""

from __future__ import annotations

import keyword
import re
import textwrap

from .document import Document, Schema, pascal, reference
from .types import class_name, one_line, python_type, quoted

HEADER = '''"""{title}

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

'''


def modules(document: Document) -> dict[str, str]:
    """The text of every file of models/ by its name."""
    homes = document.homes()
    files: dict[str, str] = {}
    for home in sorted(set(homes.values())):
        names = [name for name in _ordered(document) if homes.get(name) == home]
        text = "".join(_definition(name, document.schemas[name]) for name in names)
        foreign = set().union(*(document.needs(name) for name in names)) - set(names)
        imports = "".join(f"from .{homes[name]} import {class_name(name)}\n" for name in sorted(foreign))
        title = "Models of more than one part." if home == "common" else f"Models of the operations on {home}."
        files[f"{home}.py"] = HEADER.format(title=title) + imports + "\n" + text
    files["__init__.py"] = _index(files)
    return files


def _index(files: dict[str, str]) -> str:
    lines = ['"""What goes over the wire, as typed dictionaries.\n\nWritten by tools/generate.py."""\n']
    everything = []
    for file, text in sorted(files.items()):
        names = sorted(re.findall(r"^(?:class )?([A-Z]\w+)(?:\(| = )", text, re.MULTILINE))
        lines.append(f"from .{file.removesuffix('.py')} import {', '.join(names)}")
        everything += names
    return "\n".join(lines) + f"\n\n__all__ = {sorted(everything)!r}\n"


def _ordered(document: Document) -> list[str]:
    """Each schema behind those it is made of."""
    done: list[str] = []

    def place(name: str) -> None:
        if name not in done:
            for other in sorted(document.needs(name)):
                place(other)
            done.append(name)

    for name in sorted(document.schemas):
        place(name)
    return done


def _definition(name: str, schema: Schema) -> str:
    title = class_name(name)
    if name.startswith("List_"):
        return _list(title)
    if "properties" in schema:
        return _class(title, [], schema, schema.get("description"))
    if "allOf" in schema:
        bases = [class_name(named) for part in schema["allOf"] if (named := reference(part))]
        own = [part for part in schema["allOf"] if "properties" in part]
        return _class(title, bases, own[0] if own else {"properties": {}}, schema.get("description"))
    if "oneOf" in schema and any("properties" in part for part in schema["oneOf"]):
        return _choices(title, schema)
    doc = wrapped(one_line(schema.get("description"))).replace("\n    ", "\n")
    return f'{title} = {python_type(schema)}\n"""{doc}"""\n\n\n'


def _list(title: str) -> str:
    """A page of a list, whose entries the document spells out once more."""
    entry = title.removesuffix("List")
    return (
        f'class {title}(TypedDict):\n    """A page of a list."""\n\n    items: list[{entry}]\n    """The entries."""\n'
        '    next_cursor: str | None\n    """Where the next page begins; null on the last one."""\n\n\n'
    )


def _choices(title: str, schema: Schema) -> str:
    """A choice of objects: one class each, named by its only constant."""
    text, names = "", []
    for part in schema["oneOf"]:
        constant = next(one["enum"][0] for one in part["properties"].values() if len(one.get("enum", [])) == 1)
        names.append(pascal(constant) + title.removesuffix("Request"))
        text += _class(names[-1], [], part, part.get("description"))
    return text + f'{title} = {" | ".join(names)}\n"""{one_line(schema.get("description"))}"""\n\n\n'


def _class(title: str, bases: list[str], schema: Schema, description: str | None) -> str:
    fields: dict[str, Schema] = schema["properties"]
    required = {name for name in fields if name in schema.get("required", [])}
    doc = wrapped(description or title)
    if any(keyword.iskeyword(name) for name in fields):
        members = ", ".join(f"{name!r}: {python_type(one)!r}" for name, one in fields.items())
        own = f"_{title}Own" if bases else title
        text = f"{own} = TypedDict({own!r}, {{{members}}})\n"
        if bases:
            return f'{text}\n\nclass {title}({", ".join(bases)}, {own}):\n    """{doc}"""\n\n\n'
        return text + f'"""{one_line(description)}"""\n\n\n'
    text = ""
    if required and len(required) < len(fields):
        base = f"_{title}Required"
        text += f"class {base}({', '.join(bases) or 'TypedDict'}):\n{_fields(fields, required)}\n\n"
        bases, fields = [base], {name: one for name, one in fields.items() if name not in required}
    head = ", ".join([*(bases or ["TypedDict"]), *([] if fields.keys() <= required else ["total=False"])])
    return text + f'class {title}({head}):\n    """{doc}"""\n\n{_fields(fields, set(fields))}\n\n'


def _fields(fields: dict[str, Schema], wanted: set[str]) -> str:
    text = ""
    for name, schema in fields.items():
        if name in wanted:
            text += f"    {name}: {python_type(schema)}\n"
            if doc := one_line(schema.get("description")):
                text += f'    """{wrapped(doc)}"""\n'
    return text


def wrapped(text: str) -> str:
    """A docstring in a class."""
    lines = textwrap.wrap(quoted(" ".join(text.split())), 108, subsequent_indent="    ")
    return "\n".join(lines) + ("\n    " if len(lines) > 1 else "")
