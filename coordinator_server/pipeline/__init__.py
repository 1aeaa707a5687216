"""Jobs over the log that run outside the server: compact and replay. The only importer of pyspark, pyarrow and numpy."""
