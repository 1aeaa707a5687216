"""The page: every group, and its past, for a browser. A process of its own, beside a server or a directory, that changes nothing.

    server.py     serves the page at a socket
    app.py        the routes: JSON and status; who may ask, and what a browser may do with the answers
    files.py      documents, and the files of static/
    answers.py    the answers of the present version, each made once
    updater.py    a thread that brings the index and the summaries up to date while somebody looks
    guarded.py    what holds for all routes
    door.py login.py rights.py    logins at the cluster, and what their users may see
    board.py      what is known now, and who waits for the next version
    summary.py    what the list says of a group
    summaries.py  the summaries of all groups, in SQLite beside the index: filtered and sorted there
    filters.py    what a viewer types, as a condition
    progress.py   which rebalances go on, as the running server says
    across.py     what is across groups: clients, topics, transactions, share partitions
    paces.py      how fast groups consume, and how far they are behind
    machine.py    what is behind the groups: shards, loops, jobs
    group.py      one group: lanes, marks, sessions, density, its state at a moment, and the difference of two
    lanes.py sessions.py density.py moments.py trend.py    the parts of that; chunk_cache.py keeps what was read for them
    what_if.py    one group by another rule, beside what it was; lived.py reads its life
    queued.py     answers that take long, such as that: made one after another

It reads the index of groups (pipeline/index), as it was at its last update. A running server is asked for all viewers at once: none
of them is work for it.
"""
