"""The index of requests: what was read, and what sessions, projects and days cost."""
