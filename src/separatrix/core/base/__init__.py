"""What every other package builds on: errors, messages, arrays, labels, threads, memory and files."""
