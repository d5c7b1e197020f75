"""What would the model say? A model API on 127.0.0.1 that answers from a script and keeps what it was asked.

script     the replies that a test writes, and the parts of a request that it reads
anthropic  the Messages wire: what Claude Code speaks
responses  the OpenAI Responses wire: what Codex speaks
gemini     the Gemini wire: what Gemini CLI speaks
server     the server that puts them together
"""
