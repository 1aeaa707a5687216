"""What becomes of the files after a crash or damage: recovery at every start, ``log verify``, and ``log verify --salvage``.

Recovery changes files only where the journal says more than they do; verify changes none. Imports
go to all other rooms: ``log/read``, ``log/layers``, ``log/write``.
"""
