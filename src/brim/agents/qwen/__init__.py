"""Qwen Code: its hooks, its session files, and its settings."""
