"""What the definitions of tools take.

That is the text that OpenAI's models read, or their JSON and the prompt that tools bring.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from typing import Any

from brim.tokens.messages.fields import DEEPEST, compact, first, get, is_sequence, pairs, string
from brim.tokens.messages.parts import Walk
from brim.tokens.messages.rules import best, load, width

_PARAMETERS = (
    "tool_call_schema",  # LangChain's, without the parameters that the model isn't told; its input_schema has them
    *(
        "parameters",
        "input_schema",
        "inputSchema",
        "parametersJsonSchema",
        "parameters_json_schema",
    ),
    *("params_json_schema", "args_schema"),
)
NO_NAMES = ("", "any", "auto", "none", "required")
"""Choices of a tool that are a word for a rule, not the name of one."""
_JSON_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def add_tools(tools: object, walk: Walk, choice: object = None) -> None:
    """Add *tools* in the shape of any provider, framework or MCP server.

    *choice* is the request's ``tool_choice``.

    OpenAI's models read functions as a TypeScript namespace; others get the tools as JSON.
    Sources: ``data/tools.json``.
    """
    found = list(_each(tools))
    if not found:
        return
    table = load("tools")
    openai = walk.provider in ("openai", "other")
    functions = []
    for tool in found:
        if isinstance(tool, (str, bytes, int, float)):
            walk.rough(compact(tool))
        elif _is_hosted(tool):
            _add_hosted(tool, walk, table)
        elif openai:
            functions.append(tool)
        else:
            known = {
                "name": _name(tool),
                "description": _about(tool),
                "input_schema": _parameters(tool),
            }
            _add_text(compact(known), walk)
    if functions:
        _add_namespace(functions, walk, table["openai"], choice)
    elif walk.provider == "anthropic":
        row = best(table["anthropic"]["system_prompt"], walk.names)
        walk.ledger.other(row["any" if _forces_a_tool(choice) else "auto"], row["low"], row["high"])
    published = walk.provider in ("openai", "anthropic")
    walk.ledger.because("tool schemas: published estimate" if published else width("schema").reason)


def _forces_a_tool(choice: object) -> bool:
    """Whether the model has to call a tool, in the words of any provider or framework."""
    if isinstance(choice, str):
        return choice not in ("", "auto", "none")
    return (
        string(get(choice, "type")) in ("any", "tool", "function")
        or chosen_tool(choice) is not None
    )


def chosen_tool(choice: object) -> str | None:
    """Return the name of the tool that the model has to call; None if *choice* names none.

    LangChain and the OpenAI Agents SDK write the name alone.
    """
    if isinstance(choice, str):
        return None if choice in NO_NAMES else choice
    name = first(get(choice, "function"), "name") or get(choice, "name")
    return name if isinstance(name, str) else None


def add_output_schema(schema: object, walk: Walk) -> None:
    """Add a schema that the answer must follow: JSON, or a class of pydantic."""
    if isinstance(schema, type):
        schema = _parameters({"parameters": schema})
    walk.rough(compact(schema), "output_schema")


def _each(tools: object) -> Iterator[object]:
    """Yield each tool alone: out of lists, Gemini's declarations, the answer of an MCP server, and
    wrappers."""
    if tools is None:
        return
    if is_sequence(tools):
        for tool in tools:  # type: ignore[attr-defined]
            yield from _each(tool)
        return
    for name in ("function_declarations", "functionDeclarations", "tools"):
        inner = get(tools, name)
        if is_sequence(inner) and string(get(tools, "type")) != "mcp":
            yield from _each(inner)
            return
    for name in ("function", "toolSpec"):
        inner = get(tools, name)
        if inner is not None and not isinstance(inner, str) and not callable(inner):
            yield inner
            return
    yield tools


def _is_hosted(tool: object) -> bool:
    """Whether the provider defines the tool: it has no schema, and its type is a name of the
    provider's."""
    kind = string(get(tool, "type"))
    return first(tool, *_PARAMETERS) is None and (
        kind not in ("", "function", "custom") or not _name(tool)
    )


def _add_hosted(tool: object, walk: Walk, table: dict[str, Any]) -> None:
    kind = string(get(tool, "type"))
    for name, tokens in table["anthropic"]["own_tools"].items():
        if name != "source" and kind.startswith(name) and walk.provider == "anthropic":
            walk.ledger.other(*tokens)
            return
    walk.ledger.width(width("hosted_tool"))


def _add_text(text: str, walk: Walk, row: str = "schema") -> None:
    size = width(row)
    walk.ledger.text(text, size.text_low, size.text_high)
    walk.ledger.other(size.tokens, size.low, size.high)


# What OpenAI's models read: a namespace with one type for each function


def _add_namespace(tools: list[object], walk: Walk, table: dict[str, Any], choice: object) -> None:
    known = best(table["measured"], walk.names)["measured"]
    _add_text(namespace(tools), walk, "schema_measured" if known else "schema")
    walk.ledger.other(*(table["frame"],) * 3)
    system = next(
        (message for message in walk.messages if string(get(message, "role")) == "system"), None
    )
    if system is not None:
        # The functions join the first system message, which gets a line break.
        walk.ledger.other(*(table["with_system"],) * 3)
        text = string(get(system, "content"))
        walk.ledger.difference(f"{text}\n", text)
    name = chosen_tool(choice)
    if name is not None:
        walk.ledger.text(name)
        is_function_call = not isinstance(choice, str) and get(choice, "type") is None
        walk.ledger.other(*(table["choice_function" if is_function_call else "choice_tool"],) * 3)
    elif choice == "none":
        walk.ledger.other(*(table["choice_none"],) * 3)


def namespace(tools: list[object]) -> str:
    """Return *tools* as OpenAI's models read them.

    It's known from reported usage: a property has a comment with its description and stands on a
    line of its own, without indentation; an object with one property that isn't described takes one
    line.
    """
    lines = ["namespace functions {", ""]
    for tool in tools:
        about, shape = _about(tool), _parameters(tool)
        lines += [f"// {about}"] if about else []
        given = f"_: {_object(shape, shape, 0)}" if any(_properties(shape)) else ""
        lines.append(f"type {_name(tool)} = ({given}) => any;")
        if get(tool, "format") is not None:
            lines.append(compact(get(tool, "format")))
        lines.append("")
    return "\n".join([*lines, "} // namespace functions"])


def _properties(schema: object) -> Iterator[tuple[str, object]]:
    properties = get(schema, "properties")
    return (
        pairs(properties)
        if properties is not None and not isinstance(properties, str)
        else iter(())
    )


def _object(schema: object, root: object, depth: int) -> str:
    """Return the properties of an object, in braces."""
    required, lines = get(schema, "required"), []
    for name, inner in _properties(schema):
        about = string(get(inner, "description"))
        lines += [f"// {about}"] if about else []
        mark = "" if is_sequence(required) and name in required else "?"  # type: ignore[operator]
        lines.append(f"{name}{mark}: {_type(inner, root, depth + 1)},")
    if len(lines) == 1:
        return f"{{ {lines[0][:-1]} }}"
    return "\n".join(["{", *lines, "}"])


def _type(schema: object, root: object, depth: int) -> str:
    """Return a schema as a type; *root* holds the definitions that it may refer to."""
    several, choices, kind = (
        first(schema, "anyOf", "oneOf"),
        get(schema, "enum"),
        get(schema, "type"),
    )
    name = string(get(schema, "$ref")).rpartition("/")[2]
    if depth > DEEPEST:
        return "any"
    if is_sequence(choices):
        literals = [
            f'"{choice}"' if isinstance(choice, str) else compact(choice)
            for choice in choices  # type: ignore[attr-defined]
        ]
        return " | ".join(literals)
    if is_sequence(several) or is_sequence(kind):
        each = several if is_sequence(several) else [{"type": one} for one in kind]  # type: ignore[attr-defined]
        return " | ".join(_type(one, root, depth + 1) for one in each)  # type: ignore[attr-defined]
    if name:
        return _type(get(first(root, "$defs", "definitions"), name), root, depth + 1)
    script = _SCRIPT_TYPES.get(string(kind).lower(), "any")
    if script == "object" and any(_properties(schema)):
        return _object(schema, root, depth)
    return f"{_type(get(schema, 'items'), root, depth + 1)}[]" if script == "array" else script


_SCRIPT_TYPES = {name: name for name in ("string", "boolean", "null", "object", "array", "number")}
_SCRIPT_TYPES["integer"] = "number"


# Tools of providers, frameworks and Python


def _name(tool: object) -> str:
    return string(get(tool, "name") or get(tool, "__name__"))


def _about(tool: object) -> str:
    given = get(tool, "description")
    return string(get(tool, "__doc__") if given is None and callable(tool) else given)


def _parameters(tool: object) -> object:
    found = first(tool, *_PARAMETERS)
    found = get(found, "json") if isinstance(get(found, "json"), dict) else found
    if found is None and callable(tool):
        found = tool
    if found is None:
        return get(get(tool, "function_schema"), "json_schema")  # pydantic-ai
    try:
        if isinstance(found, type) and hasattr(found, "model_json_schema"):
            return _untitled(found.model_json_schema())
        return _signature(found) if found is tool else found
    except Exception:  # a stranger's class or signature can raise anything
        return None


def _untitled(schema: Any) -> Any:
    """Return pydantic's *schema* without what SDKs leave out: its titles, and the description,
    which is the tool's."""
    described: dict[str, Any] = dict(_properties(schema))
    properties = {
        name: {key: each[key] for key in each if key != "title"} for name, each in described.items()
    }
    return {
        **{key: schema[key] for key in schema if key not in ("title", "description")},
        "properties": properties,
    }


def _signature(function: Any) -> object:
    """Return the schema that an SDK makes of the parameters of a Python *function*."""
    hints = typing.get_type_hints(function)
    given = inspect.signature(function).parameters.values()
    properties = {each.name: _hinted(hints.get(each.name), typing) for each in given}
    required = [each.name for each in given if each.default is each.empty]
    return {"type": "object", "properties": properties, "required": required}


def _hinted(hint: Any, typing: Any) -> dict[str, object]:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is typing.Annotated:
        notes = [note for note in inner[1:] if isinstance(note, str)]
        return {**_hinted(inner[0], typing), **({"description": notes[0]} if notes else {})}
    if origin in (list, set, tuple):
        return {"type": "array", "items": _hinted(inner[0] if inner else None, typing)}
    if inner and type(None) in inner:
        return _hinted(next(each for each in inner if each is not type(None)), typing)
    if hasattr(hint, "model_json_schema"):
        return dict(hint.model_json_schema())
    return {"type": _JSON_TYPES.get(origin or hint, "object" if hint else "string")}
