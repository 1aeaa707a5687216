"""Committed offsets: where they are kept, how they are written and read. Who may commit is the groups' business."""
