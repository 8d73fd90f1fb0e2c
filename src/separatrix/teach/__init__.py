"""The lectures: textbook quantities, steps, information, figures, exercises, the lab."""
