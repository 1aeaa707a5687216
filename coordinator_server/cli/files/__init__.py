"""Commands about the files of a data directory: no server has it, or it is new. All others know the log by its interfaces."""
