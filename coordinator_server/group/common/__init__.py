"""What groups of several types need: the topics and their hashes, the settings of groups, regular expressions."""
