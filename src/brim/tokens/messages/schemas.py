"""What the definitions of tools take.

That is the text that OpenAI's models read, or their JSON and the prompt that tools bring.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from typing import Any

from brim.tokens.messages.fields import (
    DEEPEST,
    compact,
    first,
    get,
    is_sequence,
    items,
    pairs,
    string,
)
from brim.tokens.messages.parts import Walk
from brim.tokens.messages.rules import best, load, width

_PARAMETERS = (
    "tool_call_schema",  # LangChain's, without the parameters that the model isn't told; its input_schema has them
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "params_json_schema",
    "args_schema",
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
    definitions = list(_definitions(tools))
    if not definitions:
        return
    table = load("tools")
    reads_namespace = walk.provider in ("openai", "other")
    functions = []
    for tool in definitions:
        if isinstance(tool, str | bytes | int | float):
            walk.rough(compact(tool))
        elif _is_hosted(tool):
            _add_hosted(tool, walk, table)
        elif reads_namespace:
            functions.append(tool)
        else:
            _add_text(_as_json(tool), walk)
    if functions:
        _add_namespace(functions, walk, table["openai"], choice)
    elif walk.provider == "anthropic":
        row = best(table["anthropic"]["system_prompt"], walk.names)
        tokens = row["auto"]
        if _forces_a_tool(choice):
            tokens = row["any"]
        walk.ledger.other(tokens, row["low"], row["high"])
    if walk.provider in ("openai", "anthropic"):
        walk.ledger.because("tool schemas: published estimate")
    else:
        walk.ledger.because(width("schema").reason)


def _as_json(tool: object) -> str:
    """Return *tool* as models read it that get no namespace."""
    definition = {
        "name": _name(tool),
        "description": _description(tool),
        "input_schema": _parameters(tool),
    }
    return compact(definition)


def _forces_a_tool(choice: object) -> bool:
    """Whether the model has to call a tool, in the words of any provider or framework."""
    if isinstance(choice, str):
        return choice not in ("", "auto", "none")
    if string(get(choice, "type")) in ("any", "tool", "function"):
        return True
    return chosen_tool(choice) is not None


def chosen_tool(choice: object) -> str | None:
    """Return the name of the tool that the model has to call; None if *choice* names none.

    LangChain and the OpenAI Agents SDK write the name alone.
    """
    name = choice
    if not isinstance(choice, str):
        name = first(get(choice, "function"), "name") or get(choice, "name")
    elif choice in NO_NAMES:
        return None
    if isinstance(name, str):
        return name
    return None


def add_output_schema(schema: object, walk: Walk) -> None:
    """Add a schema that the answer must follow: JSON, or a class of pydantic."""
    if isinstance(schema, type):
        schema = _parameters({"parameters": schema})
    walk.rough(compact(schema), "output_schema")


def _definitions(tools: object) -> Iterator[object]:
    """Yield each tool alone: out of lists, Gemini's declarations, the answer of an MCP server, and
    wrappers."""
    if tools is None:
        return
    inner_tools = _inner_tools(tools)
    if inner_tools is None:
        yield _unwrapped(tools)
        return
    for tool in inner_tools:
        yield from _definitions(tool)


def _inner_tools(tools: object) -> list[object] | None:
    """Return the tools that *tools* has as a list or in a field; None if it is a tool itself."""
    if is_sequence(tools):
        return items(tools)
    for name in ("function_declarations", "functionDeclarations", "tools"):
        inner = get(tools, name)
        if is_sequence(inner) and string(get(tools, "type")) != "mcp":
            return items(inner)
    return None


def _unwrapped(tool: object) -> object:
    for name in ("function", "toolSpec"):
        inner = get(tool, name)
        if inner is not None and not isinstance(inner, str) and not callable(inner):
            return inner
    return tool


def _is_hosted(tool: object) -> bool:
    """Whether the provider defines the tool: it has no schema, and its type is a name of the
    provider's."""
    if first(tool, *_PARAMETERS) is not None:
        return False
    return string(get(tool, "type")) not in ("", "function", "custom") or not _name(tool)


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
    row = "schema"
    if best(table["measured"], walk.names)["measured"]:
        row = "schema_measured"
    _add_text(namespace(tools), walk, row)
    walk.ledger.other(*(table["frame"],) * 3)
    system = _first_system(walk.messages)
    if system is not None:
        # The functions join the first system message, which gets a line break.
        walk.ledger.other(*(table["with_system"],) * 3)
        text = string(get(system, "content"))
        walk.ledger.difference(f"{text}\n", text)
    _add_choice(choice, walk, table)


def _first_system(messages: list[object]) -> object:
    for message in messages:
        if string(get(message, "role")) == "system":
            return message
    return None


def _add_choice(choice: object, walk: Walk, table: dict[str, Any]) -> None:
    name = chosen_tool(choice)
    if name is not None:
        walk.ledger.text(name)
        row = "choice_tool"
        if not isinstance(choice, str) and get(choice, "type") is None:
            row = "choice_function"  # OpenAI's old ``function_call``
        walk.ledger.other(*(table[row],) * 3)
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
        schema = _parameters(tool)
        parameters = ""
        if any(_properties(schema)):
            parameters = f"_: {_object(schema, schema, 0)}"
        lines += _comment(_description(tool))
        lines.append(f"type {_name(tool)} = ({parameters}) => any;")
        if get(tool, "format") is not None:
            lines.append(compact(get(tool, "format")))
        lines.append("")
    return "\n".join([*lines, "} // namespace functions"])


def _comment(description: str) -> list[str]:
    if not description:
        return []
    return [f"// {description}"]


def _properties(schema: object) -> Iterator[tuple[str, object]]:
    properties = get(schema, "properties")
    if properties is None or isinstance(properties, str):
        return iter(())
    return pairs(properties)


def _object(schema: object, root: object, depth: int) -> str:
    """Return the properties of an object, in braces."""
    required = get(schema, "required")
    lines = []
    for name, inner in _properties(schema):
        mark = "?"
        if is_sequence(required) and name in required:  # type: ignore[operator]
            mark = ""
        lines += _comment(string(get(inner, "description")))
        lines.append(f"{name}{mark}: {_type(inner, root, depth + 1)},")
    if len(lines) == 1:
        return f"{{ {lines[0][:-1]} }}"
    return "\n".join(["{", *lines, "}"])


def _type(schema: object, root: object, depth: int) -> str:
    """Return a schema as a type; *root* holds the definitions that it may refer to."""
    if depth > DEEPEST:
        return "any"
    literals = get(schema, "enum")
    if is_sequence(literals):
        return " | ".join([_literal(literal) for literal in items(literals)])
    alternatives = _alternatives(schema)
    if alternatives is not None:
        return " | ".join([_type(inner, root, depth + 1) for inner in alternatives])
    definition = string(get(schema, "$ref")).rpartition("/")[2]
    if definition:
        return _type(get(first(root, "$defs", "definitions"), definition), root, depth + 1)
    return _plain_type(schema, root, depth)


def _plain_type(schema: object, root: object, depth: int) -> str:
    """Return a schema as what its ``type`` says."""
    name = _SCRIPT_TYPES.get(string(get(schema, "type")).lower(), "any")
    if name == "object" and any(_properties(schema)):
        return _object(schema, root, depth)
    if name == "array":
        return f"{_type(get(schema, 'items'), root, depth + 1)}[]"
    return name


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return compact(value)


def _alternatives(schema: object) -> list[object] | None:
    """Return the schemas of which one must fit; None if *schema* doesn't name several."""
    several = first(schema, "anyOf", "oneOf")
    if is_sequence(several):
        return items(several)
    kinds = get(schema, "type")
    if is_sequence(kinds):
        return [{"type": kind} for kind in items(kinds)]
    return None


_SCRIPT_TYPES = {name: name for name in ("string", "boolean", "null", "object", "array", "number")}
_SCRIPT_TYPES["integer"] = "number"


# Tools of providers, frameworks and Python


def _name(tool: object) -> str:
    return string(get(tool, "name") or get(tool, "__name__"))


def _description(tool: object) -> str:
    description = get(tool, "description")
    if description is None and callable(tool):
        description = get(tool, "__doc__")
    return string(description)


def _parameters(tool: object) -> object:
    """Return the schema of a tool's parameters; None if it has none that can be read."""
    schema = first(tool, *_PARAMETERS)
    if isinstance(get(schema, "json"), dict):  # Amazon's Converse API
        schema = get(schema, "json")
    if schema is None:
        if not callable(tool):
            return get(get(tool, "function_schema"), "json_schema")  # pydantic-ai
        schema = tool
    try:
        if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
            return _untitled(schema.model_json_schema())
        if schema is tool:
            return _signature(tool)
    except Exception:  # a stranger's class or signature can raise anything
        return None
    return schema


def _untitled(schema: Any) -> Any:
    """Return pydantic's *schema* without what SDKs leave out: its titles, and the description,
    which is the tool's."""
    properties = {}
    for name, inner in _properties(schema):
        properties[name] = _without(inner, ("title",))
    return {**_without(schema, ("title", "description")), "properties": properties}


def _without(schema: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: schema[key] for key in schema if key not in keys}


def _signature(function: Any) -> object:
    """Return the schema that an SDK makes of the parameters of a Python *function*."""
    hints = typing.get_type_hints(function)
    properties = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        properties[parameter.name] = _hinted(hints.get(parameter.name))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required}


def _hinted(hint: Any) -> dict[str, object]:
    """Return the schema of a type hint."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is typing.Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is typing.Annotated:
        return _annotated(arguments)
    if origin in (list, set, tuple):
        item = next(iter(arguments), None)
        return {"type": "array", "items": _hinted(item)}
    if type(None) in arguments:
        return _hinted(next(inner for inner in arguments if inner is not type(None)))
    if hasattr(hint, "model_json_schema"):
        return dict(hint.model_json_schema())
    unknown = "string"
    if hint:
        unknown = "object"
    return {"type": _JSON_TYPES.get(origin or hint, unknown)}


def _annotated(arguments: tuple[Any, ...]) -> dict[str, object]:
    hint, *notes = arguments
    schema = _hinted(hint)
    description = next((note for note in notes if isinstance(note, str)), None)
    if description is not None:
        schema["description"] = description
    return schema
