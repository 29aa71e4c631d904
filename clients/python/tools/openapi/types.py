"""What schemas are in Python's types."""

from __future__ import annotations

from .document import Schema, nullable, pascal, reference

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def class_name(schema: str) -> str:
    """List_Context is ContextList, Warning is not the builtin."""
    if schema.startswith("List_"):
        return pascal(schema.removeprefix("List_")) + "List"
    return "UpdateWarning" if schema == "Warning" else pascal(schema)


def python_type(schema: Schema) -> str:
    """The type of a value in an answer."""
    inner, optional = nullable(schema)
    name = _type(inner)
    return f"{name} | None" if optional and name != "Any" else name


def _type(schema: Schema) -> str:
    named = reference(schema)
    if named is not None:
        return class_name(named)
    if "enum" in schema:
        return f"Literal[{', '.join(repr(one) for one in schema['enum'])}]"
    if "oneOf" in schema:
        return " | ".join(dict.fromkeys(python_type(one) for one in schema["oneOf"]))
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return python_type(schema["allOf"][0])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(PLAIN[one] for one in kind)
    if kind == "array":
        return f"list[{python_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {python_type(values) if isinstance(values, dict) and values else 'Any'}]"
    return PLAIN.get(str(kind), "Any")


def accepted_type(schema: Schema) -> str:
    """The type of what a caller hands in: more is taken than is given."""
    return python_type(schema).replace("list[", "Sequence[").replace("dict[str, Any]", "Mapping[str, Any]")


def one_line(text: str | None) -> str:
    """The first sentence of a description."""
    flat = " ".join((text or "").split())
    for end in (": ", ". ", "; "):
        head, found, _ = flat.partition(end)
        if found and len(head) > 20 and head.count("`") % 2 == 0:
            flat = head
    return flat.rstrip(".:;,") + "." if flat else ""


def quoted(text: str) -> str:
    """As it stands inside three quotes."""
    return text.replace("\\", "\\\\").replace('"""', "'''")
