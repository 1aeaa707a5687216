"""Committed offsets: their storage, records and reads. The group packages decide which commits are allowed."""
