"""What a running server says of itself, for metrics and health checks.

loop_metrics.py   the numbers of one loop: the operation ``metrics`` of ``control.sock``
node_metrics.py   a node of several: its numbers, and the operation ``cluster``
census.py         groups and transactional ids by state, counted in steps and not too often
health.py         whether a loop serves: the operation ``health``
process.py        the process that answers HTTP requests, and asks ``control.sock`` (``cli/metrics.py``)
"""
