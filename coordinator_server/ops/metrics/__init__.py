"""What the process of metrics and health answers: ``cli/metrics.py`` runs it.

families.py     every metric: its name, kind, labels and meaning, and what Kafka calls it
found.py        the answers of ``control.sock``
exposition.py   the same as Prometheus reads them
readiness.py    whether the server lives, and whether it serves
control_requests.py  requests to ``control.sock``
http.py         the HTTP server
"""
