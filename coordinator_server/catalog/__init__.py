"""Topics and partitions, for Metadata answers and assignors. The topics are virtual: they store no records."""
