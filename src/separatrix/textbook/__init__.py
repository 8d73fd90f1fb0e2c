"""What the lectures compute besides classifiers: mistake bounds, margins, error surfaces, information theory."""
