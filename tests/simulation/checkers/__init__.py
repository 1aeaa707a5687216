"""What must hold of any history, whatever was played: each checker reads requests, answers and the log,
and yields what is wrong in words.

None of them knows the workload, its scripts, or the server.
"""
