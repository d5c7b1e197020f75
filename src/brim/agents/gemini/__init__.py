"""What brim knows about Gemini CLI."""
