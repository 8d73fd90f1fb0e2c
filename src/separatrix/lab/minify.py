"""The scripts and the style sheets of the front end without comments, indentation and needless characters.

This is what the server sends and what recordings hold; the sources stay readable. Strings, template literals and
regular expressions stay as they are. A line end stays wherever it can be the end of a statement. Only the forms that
the front end uses are handled; the first two are checked, and a browser refuses a script without the third:

- a template literal ends on the line on which it begins;
- the operator / has a space after it, which a regular expression does not have;
- a semicolon follows an expression that ends with a brace, as in ``const f = () => {...};``.
"""

from __future__ import annotations

import re

# How deep template literals can stand inside each other.
DEPTH = 4

_TEXT = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'"
_COMMENT = r"//[^\n]*|/\*.*?\*/"
_EXPRESSION = r"/(?![ /*=])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"


def _template(depth: int) -> str:
    """The pattern of a template literal. Its expressions may hold texts, braces, and ``depth`` levels of templates."""
    inside = rf"{_TEXT}|{_template(depth - 1)}" if depth else _TEXT
    braces = rf"\{{(?:{inside}|[^\n`\"'{{}}])*\}}"
    return rf"`(?:[^`\\\n$]|\\.|\$(?!\{{)|\$\{{(?:{inside}|{braces}|[^\n`\"'{{}}])*\}})*`"


_PARTS = re.compile(rf"(?P<comment>{_COMMENT})|(?P<kept>{_TEXT}|{_template(DEPTH)}|{_EXPRESSION})", re.DOTALL)
# What cannot stand in code outside texts: a quotation mark, or a slash that is not the operator.
_UNREAD = re.compile(r"[`\"']|/(?![ =])")
# Next to these, spaces have no meaning. Next to + and - they have, if another one follows: `a + +b` is not `a++b`.
_SPACES = re.compile(r" *([{}()\[\],;:?=<>&|*%!]) *")
_OPERATORS = re.compile(r"(?<=[^\s+-]) ([-+]) (?=[^\s+-])|(?<=[^\s]) (/) (?=[^\s/*])")
_LINES = re.compile(r"\s*\n\s*")
# No statement ends after an opening bracket, a comma or a semicolon, and every one ends before a closing bracket. A
# brace at the end of a line ends a block, which needs no line end before a word.
_NEEDLESS_LINES = re.compile(r"(?<=[{(\[,;])\n|\n(?=[})\]])|(?<=\})\n(?=[\w#$.])")

# No semicolon is needed before a closing brace, but for a loop without a body, which the front end does not have.
_NEEDLESS_SEMICOLONS = re.compile(r";(?=\s*\})")

# 0.5 is also written .5, in scripts and in style sheets.
_NEEDLESS_ZEROS = re.compile(r"(?<![\w.$])0(?=\.\d)")


def minified_script(text: str) -> str:
    r"""A JavaScript module that does the same, in fewer characters.

    >>> minified_script('// Names.\nexport const name = (a, b) => {\n  return `${a}, ${b}`; // both\n};\n')
    'export const name=(a,b)=>{return `${a}, ${b}`};\n'
    """
    text = _PARTS.sub(lambda found: found["kept"] or "", text)
    made, end = [], 0
    for found in _PARTS.finditer(text):
        made += [_code(text[end : found.start()]), found["kept"]]
        end = found.end()
    made.append(_code(text[end:]))
    return _trimmed("".join(made))


def minified_style(text: str) -> str:
    r"""A style sheet that says the same, in fewer characters.

    >>> minified_style("/* Links */\na:hover, .mark { color: red; margin: calc(1px + 2px); }\n")
    'a:hover,.mark{color:red;margin:calc(1px + 2px)}\n'
    """
    made = re.sub(r" *([{};,>]) *", r"\1", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace(": ", ":"))
    return _NEEDLESS_ZEROS.sub("", _trimmed(made).replace(";}", "}"))


def _code(text: str) -> str:
    if unread := _UNREAD.search(text):
        line = text[text.rfind("\n", 0, unread.start()) + 1 :].partition("\n")[0]
        raise ValueError(f"this script has a form that is not handled, at {unread[0]!r} in {line.strip()!r}")
    made = _SPACES.sub(r"\1", _OPERATORS.sub(r"\1\2", text))
    return _NEEDLESS_ZEROS.sub("", _NEEDLESS_SEMICOLONS.sub("", made))


def _trimmed(text: str) -> str:
    return _NEEDLESS_LINES.sub("", _LINES.sub("\n", text)).strip() + "\n"
