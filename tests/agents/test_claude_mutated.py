"""The readers themselves raise on nothing, whichever field of a line is gone or is something
else."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from brim.agents.claude.transcript import (
    ClaudeStatusReader,
    ClaudeStreamReader,
    ClaudeTranscriptReader,
)
from tests.agents.claude_lines import STATUS, STREAM, TRANSCRIPT
from tests.agents.mutated import is_sound, mutated, read


@given(mutated(STREAM))
def test_a_mutated_stream_never_raises(lines: list[dict[str, Any]]) -> None:
    assert is_sound(read(ClaudeStreamReader(), lines))
    assert all(isinstance(ClaudeStreamReader.recognises(line), bool) for line in lines)


@given(mutated(TRANSCRIPT))
def test_a_mutated_transcript_never_raises(lines: list[dict[str, Any]]) -> None:
    assert is_sound(read(ClaudeTranscriptReader(), lines))
    assert all(isinstance(ClaudeTranscriptReader.recognises(line), bool) for line in lines)


@given(mutated([STATUS]))
def test_a_mutated_status_never_raises(lines: list[dict[str, Any]]) -> None:
    assert is_sound(read(ClaudeStatusReader(), lines))
    assert all(isinstance(ClaudeStatusReader.recognises(line), bool) for line in lines)
