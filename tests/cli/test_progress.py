"""What is drawn while work goes on: where it is, on a terminal alone, and nothing of it afterwards."""

import re
import time

import pytest

from separatrix.cli import terminal
from separatrix.core.base.watching import Amount, Part, stage, watched

from .running import on_a_terminal, run

# Drawn from the beginning, and at every stage: no test waits.
AT_ONCE = """
import sys
from separatrix.cli import main, terminal

class Timer:
    def __init__(self, seconds, function):
        self.function = function
    def start(self):
        self.function()
    def cancel(self):
        pass

def see(self, stage, within):
    seen(self, stage, within)
    self.shown.refresh()

terminal.threading.Timer, seen, terminal.Work.see = Timer, terminal.Work.see, see
"""
MAIN = AT_ONCE + "main({words!r}, prog_name='separatrix')\n"


def drawn(*words, **kwargs):
    """A verb's exit code and all that a terminal receives while it draws at once."""
    return on_a_terminal("-c", MAIN.format(words=words), **kwargs)


def plain(text):
    """Without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def screen(text):
    """What a terminal shows in the end: it writes, goes up a line, and wipes one."""
    lines, row, column = [""], 0, 0
    for move, count, letter, mark in re.findall(r"(\x1b\[(\??[0-9;]*)([a-zA-Z]))|([^\x1b])", text):
        if move and letter == "A":
            row -= int(count or 1)
        elif move and letter == "K":
            lines[row] = ""
        elif mark == "\n":
            row += 1
            lines += [""] * (row - len(lines) + 1)
        elif mark == "\r":
            column = 0
        elif mark:
            lines[row] = lines[row][:column].ljust(column) + mark + lines[row][column + 1 :]
            column += 1
    return "\n".join(line.rstrip() for line in lines)


def many(rows=4000):
    lines = [f"{i % 97},{(i * i) % 31},{'yes' if (7 * i) % 11 > 4 else 'no'}" for i in range(rows)]
    return "a,b,y\n" + "\n".join(lines) + "\n"


@pytest.fixture
def wide(tmp_path):
    (tmp_path / "wide.csv").write_text(many())
    return "wide.csv"


def test_a_fit_and_its_folds_say_how_far_they_are(wide, monkeypatch):
    words = ("fit", wide, "--target", "y", "--cv", "3")
    code, text = drawn(*words)
    assert code == 0
    assert re.search(r"0:00:0\d reading wide.csv", plain(text))
    assert re.search(r"━ *0\.0 of 0\.0 MB", plain(text))
    assert re.search(r"━ *what columns hold: column 2 of 3", plain(text))
    assert re.search(r"━ *as numbers: column 2 of 2", plain(text))
    for k in (1, 2, 3):
        assert re.search(rf"fold {k} of 3\s+━.*iteration", plain(text))
    assert "fitting logistic to all rows" in plain(text)
    assert re.search(r"━ *[a-z-]+: iteration \d+, gap \d.\de-\d\d \(tolerance 1e-08\)", plain(text))
    assert max(len(line) for line in re.split(r"[\r\n]", plain(text))) <= 80
    monkeypatch.setenv("COLUMNS", "80")
    said = run(*words)
    assert screen(plain_colours(text)).strip() == (said.stdout + said.stderr).strip()


def plain_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_comparison(wide):
    code, text = drawn("compare", wide, "--target", "y", "--cv", "2", "--only", "lda", "--only", "fisher", "--json")
    assert code == 0
    assert "comparing classifiers on" in plain(text)
    assert "━ 0 of 4 fits, 0 of 2 classifiers done" in plain(text)
    assert "━ 4 of 4 fits, 2 of 2 classifiers done" in plain(text)
    assert screen(plain_colours(text)).strip().startswith("{")


def test_checks(wide):
    code, text = drawn("check", wide, "--target", "y")
    assert code == 0
    assert re.search(r"━ *check \d+ of \d+: separation", plain(text))


@pytest.fixture
def answered(wide, tmp_path):
    """Draw a prediction whose answers go to a file: the exit code, what the terminal got, and the file."""
    run("fit", wide, "--target", "y", "--out", "m.json")

    def answered(**environment):
        with open(tmp_path / "answers.csv", "wb") as file:
            code, text = drawn("predict", "m.json", wide, stdout=file, **environment)
        return code, text, (tmp_path / "answers.csv").read_text()

    return answered


def test_predictions_go_to_standard_output_untouched(answered, wide):
    expected = run("predict", "m.json", wide).stdout
    code, text, answers = answered()
    assert (code, answers) == (0, expected)
    assert re.search(r"━ *4,000 of 4,000 rows", plain(text))
    assert screen(plain_colours(text)).strip() == ""
    code, text = drawn("predict", "m.json", wide)  # the terminal is where the answers go
    assert "writing the answers" not in plain(text)
    assert screen(plain_colours(text)).strip() == expected.strip()


def test_no_colours_where_none_are_wanted(answered):
    assert re.search(r"\x1b\[[0-9;]*3[0-9]", answered()[1])
    code, text, _ = answered(NO_COLOR="1")
    assert code == 0
    assert "4,000 of 4,000 rows" in plain(text)
    assert not re.search(r"\x1b\[[0-9;]*m", text.replace("\x1b[0m", ""))


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_move_its_cursor(answered, term):
    assert answered(TERM=term)[:2] == (0, "")


def test_an_encoding_without_bars(answered):
    code, text, _ = answered(PYTHONIOENCODING="ascii")
    assert code == 0
    assert re.search(r"- *4,000 of 4,000 rows", plain(text))
    assert text.isascii()
    assert "\\u2" not in text


def test_an_error_leaves_nothing_but_its_line(tmp_path):
    (tmp_path / "bad.csv").write_text(many() + "1,2\n")
    code, text = drawn("fit", "bad.csv", "--target", "y")
    assert code == 3
    assert "MB" in plain(text)
    assert len(screen(plain_colours(text)).strip().splitlines()) <= 2
    assert screen(plain_colours(text)).strip().startswith("separatrix: bad.csv")


QUICK = """
import sys
from separatrix.cli import main
try:
    main({words!r}, prog_name="separatrix")
finally:
    print(*[name for name in ("rich", "separatrix.cli.progress") if name in sys.modules])
"""


def test_short_work_draws_nothing_and_imports_nothing_for_it(monkeypatch):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    code, text = on_a_terminal("-c", QUICK.format(words=("predict", "m.json", "rows.csv")))
    assert code == 0
    assert "\x1b" not in text
    assert text.splitlines()[-1] == ""


def test_nothing_is_drawn_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_BEFORE_PROGRESS", 0.0)
    with terminal.working("fitting") as say:
        assert watched() is None
        say("more")
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


WAITED = """
from separatrix.cli import terminal
import threading
terminal.SECONDS_BEFORE_PROGRESS, shown, show = 0.01, threading.Event(), terminal.Work.show
def showing(self):
    show(self)
    self.shown.refresh()
    shown.set()
terminal.Work.show = showing
with terminal.working("first\\x1b[2J") as say:
    shown.wait()
    say("second")
terminal.SECONDS_BEFORE_PROGRESS = 1e6
with terminal.working("third"):
    pass
print("done")
"""


def test_work_is_spoken_of_once_it_takes_long():
    code, text = on_a_terminal("-c", WAITED)
    assert code == 0
    assert "0:00:00 first\\x1b[2J" in plain(text)  # no name moves the cursor
    assert "second" in plain(text)
    assert "third" not in text
    assert screen(plain_colours(text)).strip() == "done"


def test_work_that_has_ended_is_not_shown(monkeypatch):
    work = terminal.Work("fitting")
    work.end()
    work.show()
    assert work.shown is None


def test_stages_are_drawn_below_each_other(monkeypatch):
    from rich.console import Console

    from separatrix.cli.progress import Drawn

    work = terminal.Work("fitting")
    with terminal.watch(work.see), stage(Part("fold", 3, 4)), stage(Part("value of C", 2)):
        watched()(Amount("rows", 1, 4, "a note " * 20))
    console = Console(width=60, color_system=None, force_terminal=True)
    with console.capture() as capture:
        console.print(Drawn(work))
    first, *lines = capture.get().splitlines()
    assert first[1:].strip() == "0:00:00 fitting"
    assert lines[0].endswith("fold 3 of 4")
    assert lines[1].strip() == "value of C 2"
    assert lines[2].count("━") < lines[0].count("━")
    assert lines[2].endswith("…")
    assert max(map(len, lines)) <= 60
    assert len(lines) == 3


def test_the_library_alone_draws_nothing(wide):
    code = (
        f"import separatrix as sx; sx.LogisticRegression().fit(*(lambda t: (t.X, t.y))(sx.read_table({wide!r}, 'y')))"
    )
    assert on_a_terminal("-c", code) == (0, "")
