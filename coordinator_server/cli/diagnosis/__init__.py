"""What ``doctor`` looks at: each module has checks, and a check yields findings."""
