"""The same limits on many machines: a ledger in PostgreSQL.

``database`` is the connection, which speaks the SQL of the rest of the store, and makes the tables
of ``schema.sql``. ``ledger`` is money in it: requests that wait in one process are admitted
together.
"""
