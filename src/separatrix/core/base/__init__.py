"""What every floor needs and no lecture speaks of: errors, messages, arrays, labels, threads, files."""
