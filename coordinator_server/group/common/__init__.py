"""What groups of the newer protocols have in common: consumer groups, and later share groups."""
