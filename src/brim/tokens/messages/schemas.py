"""What the definitions of tools take.

That is OpenAI's published formula, or their JSON and the prompt that tools bring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.tokens.messages.fields import DEEPEST, compact, first, get, is_sequence, pairs, string
from brim.tokens.messages.rules import best, load, width

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brim.tokens.messages.parts import Walk

_PARAMETERS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


def add_tools(tools: object, walk: Walk, choice: object = None) -> None:
    """Add *tools* in the shape of any provider, or of an MCP server; *choice* is the request's ``tool_choice``.

    Sources: https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken and
    https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing
    """
    found = list(_each(tools))
    if not found:
        return
    table = load("tools")
    openai = walk.provider in ("openai", "other")
    for tool in found:
        if isinstance(tool, (str, bytes, int, float)):
            walk.unknown(compact(tool))
        elif _is_hosted(tool):
            _add_hosted(tool, walk, table)
        elif openai:
            _add_formula(tool, walk, table["openai"])
        else:
            known = {"name": _name(tool), "description": string(get(tool, "description"))}
            _add_line(compact({**known, "input_schema": _parameters(tool)}), walk)
    if openai:
        walk.ledger.other(table["openai"]["func_end"], 0, 2 * table["openai"]["func_end"])
    elif walk.provider == "anthropic":
        row = best(table["anthropic"]["system_prompt"], walk.names)
        forced = string(get(choice, "type")) in ("any", "tool")
        walk.ledger.other(row["any" if forced else "auto"], row["low"], row["high"])
    size = width("schema")
    walk.ledger.other(size.tokens, size.low, size.high * len(found))
    published = walk.provider in ("openai", "anthropic")
    walk.ledger.because("tool schemas: published estimate" if published else size.reason)


def add_output_schema(schema: object, walk: Walk) -> None:
    """Add a schema that the answer must follow."""
    size = width("output_schema")
    walk.ledger.text(compact(schema), size.text_low, size.text_high)
    walk.ledger.width(size)


def _each(tools: object) -> Iterator[object]:
    """Yield each tool alone: out of lists, Gemini's declarations, the answer of an MCP server, and wrappers."""
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
        if inner is not None and not isinstance(inner, str):
            yield inner
            return
    yield tools


def _is_hosted(tool: object) -> bool:
    """Whether the provider defines the tool: it has no schema, and its type is a name of the provider's."""
    kind = string(get(tool, "type"))
    return first(tool, *_PARAMETERS) is None and (kind not in ("", "function", "custom") or not _name(tool))


def _add_hosted(tool: object, walk: Walk, table: dict[str, Any]) -> None:
    kind = string(get(tool, "type"))
    for name, tokens in table["anthropic"]["own_tools"].items():
        if name != "source" and kind.startswith(name) and walk.provider == "anthropic":
            walk.ledger.other(*tokens)
            return
    walk.ledger.width(width("hosted_tool"))


def _add_formula(tool: object, walk: Walk, table: dict[str, Any]) -> None:
    """OpenAI's ``num_tokens_for_tools``; it stops at the first level, here deeper levels follow in the same way."""
    _add_structure(best(table["func_init"], walk.names)["tokens"], walk)
    _add_line(f"{_name(tool)}:{_sentence(get(tool, 'description') or get(tool, '__doc__'))}", walk)
    _add_properties(_parameters(tool), walk, table, 0)
    if get(tool, "format") is not None:
        _add_line(compact(get(tool, "format")), walk)


def _add_properties(schema: object, walk: Walk, table: dict[str, Any], depth: int) -> None:
    properties = get(schema, "properties")
    found = list(pairs(properties)) if properties is not None and not isinstance(properties, str) else []
    if not found:
        return
    _add_structure(table["prop_init"], walk)
    for name, inner in found:
        _add_structure(table["prop_key"], walk)
        choices = get(inner, "enum")
        if is_sequence(choices):
            _add_structure(table["enum_init"], walk)
            for choice in choices:  # type: ignore[attr-defined]
                _add_structure(table["enum_item"], walk)
                _add_line(string(choice) or compact(choice), walk)
        _add_line(f"{name}:{_kind(inner)}:{_sentence(get(inner, 'description'))}", walk)
        if depth < DEEPEST:
            _add_properties(inner, walk, table, depth + 1)
            _add_properties(get(inner, "items"), walk, table, depth + 1)


def _kind(schema: object) -> str:
    kind = get(schema, "type")
    if isinstance(kind, str):
        return string(kind)
    if is_sequence(kind):
        return "|".join(string(one) for one in kind)  # type: ignore[attr-defined]
    found = first(schema, "anyOf", "oneOf", "allOf", "$ref")
    if found is not None:
        return string(found) or compact(found)
    return compact(schema) if isinstance(schema, (bool, int, float, str)) else ""


def _add_line(line: str, walk: Walk) -> None:
    size = width("schema")
    walk.ledger.text(line, size.text_low, size.text_high)


def _add_structure(tokens: int, walk: Walk) -> None:
    walk.ledger.other(tokens, tokens // 2, 2 * tokens)


def _name(tool: object) -> str:
    return string(get(tool, "name") or get(tool, "__name__"))


def _sentence(text: object) -> str:
    return string(text).removesuffix(".")


def _parameters(tool: object) -> object:
    found = first(tool, *_PARAMETERS)
    return get(found, "json") or found
