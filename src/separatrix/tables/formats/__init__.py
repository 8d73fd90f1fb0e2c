"""Sources of tables: one module for each file format, folders of files, frames, demo tables."""
