"""The same limits on many machines: a ledger in PostgreSQL.

``database`` is the connection, which speaks the SQL of the rest of the store, and brings a schema up to date with the
numbered files in ``migrations``. ``ledger`` is money in it: requests that wait in one process are admitted together.
"""
