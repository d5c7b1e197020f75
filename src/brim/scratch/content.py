"""The text of a message's content, in whichever shape a client gives it."""

from __future__ import annotations


def extract_text(content: object) -> str:
    """Return the text of *content*: a string, or a list of blocks of which those with text count, one per line.

    >>> extract_text([{"type": "text", "text": "Fix"}, {"type": "image"}, {"type": "text", "text": "it"}])
    'Fix\\nit'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) and content.get("type") in (None, "text", "input_text") else ""
    if isinstance(content, list | tuple):
        texts = [extract_text(block) for block in content if isinstance(block, str | dict)]
        return "\n".join(text for text in texts if text)
    return ""
