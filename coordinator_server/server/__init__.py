"""The network side: listeners, connections, dispatch, and one handler per API. Only this package and the CLI use asyncio.

It has rooms, each a package with a page in its ``__init__``. A room imports only rooms below it (the contract in pyproject.toml).
A room that has objects of a loop is opened by one function, ``open_…`` in its ``open.py``. That takes the foundation of the loop
(``foundation.py``), rooms below, and what else it needs as named arguments. It returns the room as named fields; the room metrics
is a ``LoopMetrics``. An object that is created later registers itself with the earlier one: ``Listener.serve``,
``Courier.deliver_to``, ``catalog.notify``, ``FamilyNews.follow``, ``ClientQuotas.measure``.
"""
