"""GitHub Copilot CLI: its hooks, its session files, and its settings."""
