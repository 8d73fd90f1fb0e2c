"""What pytest leaves alone here: modules that import the site's generator, and scripts, which a test runs."""

collect_ignore = [
    "conf.py",
    "_ext/command_help.py",
    "_ext/lecture_figure.py",
    "_ext/shell_session.py",
    "gallery",
    "generated",
]
