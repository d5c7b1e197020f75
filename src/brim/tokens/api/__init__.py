"""How many tokens does the provider itself say this is?

``ApiTokenCounter`` asks the provider's counting endpoint, through the provider's SDK. It is the only counter that is
exact for Claude and Gemini, and the only one that uses the network: nothing in brim chooses it unless it is told to.

shapes     any provider's messages and tools, read into one shape
requests   that shape, written as each endpoint wants it
providers  the three endpoints
counter    the counter: cache, time limit, fallback
"""

from brim.tokens.api.counter import ApiTokenCounter

__all__ = ["ApiTokenCounter"]
