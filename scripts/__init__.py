"""Programs for people who work on brim."""
