"""Reads the log back: the state of shards at an offset or time, the timeline of one group, and the proof that nothing was lost.

``shard_states.py``, ``group_timeline.py`` and ``verify.py`` change no log. They import ``rules``,
``states`` and ``input``, no other job.
"""
