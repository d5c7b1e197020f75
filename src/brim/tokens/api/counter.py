"""``ApiTokenCounter``: the provider's own count, and the local one when the provider does not answer."""

from __future__ import annotations

import json
import threading
import time
from hashlib import blake2b
from typing import TYPE_CHECKING

from brim.tokens.api.providers import provider_for
from brim.tokens.api.shapes import Unconvertible
from brim.tokens.count import Count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Any, Self

    from brim.tokens.api.requests import Request
    from brim.tokens.costs import MessageCosts
    from brim.tokens.types import TokenCounter

_OWN_FAULT = frozenset({400, 413, 422})
"""What a provider answers to a request that is wrong in itself: the next request may be right."""


class ApiTokenCounter:
    """Counts by the provider's endpoint.

    It promises: a count is ``exact`` if the endpoint gave it, and otherwise the *fallback*'s count with the fallback's
    basis and a ``note`` that says why; ``last_error`` says the same of the last count. It never raises because of the
    network, the key, the SDK or the answer, and prints no warning: who wants to know reads the note.

    Each content is asked for once: the last *cache* answers are kept by a hash of what was asked. A request may take
    *timeout* seconds and is not repeated; after a failure that will meet the next request too (no answer, no key, too
    many requests), the endpoint is left alone for *pause* seconds, so that a thousand counts do not wait a thousand
    times.

    The SDK (``brim[anthropic]``, ``brim[openai]``, ``brim[gemini]``) is imported, and a client made, for the first
    request. A *client* that is given is used as it is, and never closed.
    """

    def __init__(
        self,
        model: str,
        *,
        fallback: TokenCounter,
        client: Any = None,
        provider: str | None = None,
        timeout: float = 5.0,
        cache: int = 1024,
        pause: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.fallback = fallback
        self.timeout = timeout
        self.last_error: str | None = None
        """Why the last count is the fallback's; None if it is the provider's."""
        self._provider = provider_for(model, provider, client)
        self._client = client
        self._own = client is None
        self._size, self._kept = cache, dict[str, int]()
        self._pause, self._clock, self._paused_until = pause, clock, clock()
        self._pause_reason = ""
        self._lock = threading.Lock()

    @property
    def provider(self) -> str:
        """Whose endpoint is asked: ``anthropic``, ``openai`` or ``gemini``."""
        return self._provider.name

    def count(self, text: str, /) -> Count:
        """Return what the endpoint counts for a request whose only message is *text*, by the user.

        That includes the framing of one message, which no endpoint gives separately: a few tokens more than the text
        alone, so such counts do not add up to the count of a conversation. Nothing is 0, without asking.
        """
        if not text:
            return Count(0)
        return self._count([{"role": "user", "content": text}], None, lambda: self.fallback.count(text))

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return what the endpoint counts for a request with *messages* and *tools*, in any provider's shape."""
        return self._count(messages, tools, lambda: self.fallback.count_messages(messages, tools))

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return what the fallback gives for each message: asking would be one request per message."""
        from brim.tokens.costs import message_costs

        return message_costs(self.fallback, messages, tools)

    def close(self) -> None:
        """Close the client that was made here; the next count makes another."""
        with self._lock:
            client, self._client = (self._client, None) if self._own else (None, self._client)
        if client is not None and hasattr(client, "close"):  # google-genai has it since 1.40
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _count(self, messages: Sequence[Any], tools: Sequence[Any] | None, local: Callable[[], Count]) -> Count:
        try:
            tokens = self._remembered(self._provider.request(messages, tools))
        except Exception as error:  # whatever an SDK raises: the local count is there
            self.last_error = self._describe(error)
            count = local()
            note = f"counted locally, as {self.provider}'s endpoint gave no count ({self.last_error})"
            return Count(int(count), count.basis, count.low, count.high, "; ".join(filter(None, (count.note, note))))
        self.last_error = None
        return Count(tokens)

    def _remembered(self, request: Request) -> int:
        key = _key(request)
        with self._lock:
            known = self._kept.pop(key, None) if key else None
            if key and known is not None:
                self._kept[key] = known
                return known
            if self._clock() < self._paused_until:
                raise _Paused(self._pause_reason)
        tokens = self._asked(request)
        with self._lock:
            if key and self._size > 0:
                self._kept[key] = tokens
                if len(self._kept) > self._size:
                    del self._kept[next(iter(self._kept))]
        return tokens

    def _asked(self, request: Request) -> int:
        try:
            with self._lock:
                if self._client is None:
                    self._client = self._provider.connect(self.timeout)
                client = self._client
            tokens = self._provider.ask(client, _bare_name(self.model), request, self.timeout)
            if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
                raise ValueError(f"the answer holds no number of tokens but {tokens!r}")
        except Exception as error:
            status = getattr(error, "status_code", None) or getattr(error, "code", None)
            if status not in _OWN_FAULT:
                with self._lock:
                    self._paused_until = self._clock() + self._pause
                    self._pause_reason = self._describe(error)
            raise
        return tokens

    def _describe(self, error: Exception) -> str:
        """Return *error* in one short line; a semicolon would end a note."""
        if isinstance(error, _Paused):
            return f"not asked again so soon after: {error}"
        if isinstance(error, ImportError):
            return f"the SDK is not installed: pip install 'brim[{self.provider}]'"
        if isinstance(error, Unconvertible):
            return f"{error} cannot be sent to {self.provider}"
        text = " ".join(str(error).replace(";", ",").split())
        return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


class _Paused(Exception):
    """The endpoint failed a moment ago."""


def _bare_name(model: str) -> str:
    """Return the name that the provider knows: without a router's prefix, and without a window in brackets."""
    name = model.partition("[")[0]
    prefix, slash, rest = name.partition("/")
    return rest if slash and prefix.lower() in ("anthropic", "openai", "google", "gemini", "models") else name


def _key(request: Request) -> str | None:
    """Return a hash of *request*, or None if it holds what cannot be written down, and is then not remembered."""
    try:
        text = json.dumps(request, sort_keys=True, separators=(",", ":"), default=_written)
    except (TypeError, ValueError, RecursionError):
        return None
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _written(value: object) -> object:
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(type(value).__name__)
