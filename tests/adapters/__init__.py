"""The adapters of ``brim.adapters``, each with its real framework against a model on this
machine."""
