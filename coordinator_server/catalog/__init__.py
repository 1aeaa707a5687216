"""Topics and partitions: what Metadata answers and assignors see. The topics are virtual: no records live in them."""
