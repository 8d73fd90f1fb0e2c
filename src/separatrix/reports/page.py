"""The page: its templates, and ``text``, the only function that puts text from the data into HTML.

The page loads nothing and runs no scripts; a content security policy enforces this in the browser. Colours are CSS
variables, light and dark, so figures follow the reader's setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from string import Template
from typing import Any

from separatrix._version import __version__
from separatrix.base.theme import LIGHT, shape
from separatrix.reports.stylesheet import stylesheet

# The most characters shown of a name or a sentence, and the length from which a fact is folded.
LONGEST_TEXT, LONGEST_UNFOLDED_FACT = 2000, 240
SPACES = "\n\N{NO-BREAK SPACE}"
EXPONENT = re.compile(r"(?<=\d)e-(?=\d)")

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>$style</style>
</head>
<body>
<div class="page">
<header><h1>$title</h1>$subtitle</header>
<nav aria-label="Contents"><ul>$contents</ul></nav>
<main>
$lead
$sections
</main>
<footer>Made by separatrix $version. One file: nothing in it runs or is fetched.</footer>
</div>
</body>
</html>
""")
SECTION = Template('<section id="$id"><h2>$title<span class="gloss">$gloss</span></h2>\n$body\n</section>')
FIGURE = Template('<figure class="$kind">$svg<figcaption>$caption</figcaption></figure>')
TABLE = Template('<div class="wide"><table$kind><thead><tr>$head</tr></thead><tbody>$body</tbody></table></div>')
TILE = Template('<div class="tile"><dt>$name</dt><dd><strong>$value</strong><span>$aside</span></dd></div>')
DETAILS = Template("<details><summary>$summary</summary>$body</details>")
FINDING = Template('<li class="finding $kind">$body</li>')


# The space between columns, in characters, and the characters that fit on a screen of 360 CSS pixels.
SPACE_BETWEEN_COLUMNS, MOST_CHARACTERS_ON_PHONES = 2, 44


class Html(str):
    """Text that is HTML already, made of parts that went through ``text``."""

    __slots__ = ()


@dataclass(frozen=True)
class Section:
    """A part of the page. ``gloss`` says in plain words what the title means; ``body`` is HTML already."""

    id: str
    group: str
    title: str
    gloss: str
    body: str


def text(value: Any) -> str:
    """Any text as HTML: escaped, printable, and not without end. All text from the data goes through here.

    A hyphen in the exponent of a number becomes a minus sign, at which lines do not break.

    >>> text("<b> & 'c'" + chr(0)), text("1e-8")
    ('&lt;b&gt; &amp; &#x27;c&#x27;�', '1e−8')
    """
    shown = "".join(c if c.isprintable() or c in SPACES else "\ufffd" for c in str(value)[: LONGEST_TEXT + 1])
    shown = shown if len(shown) <= LONGEST_TEXT else shown[:LONGEST_TEXT] + "…"
    return escape(EXPONENT.sub("e\N{MINUS SIGN}", shown), quote=True)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Html) else text(value)


def mark(k: int) -> Html:
    """The shape of class k in its colour.

    >>> mark(1)
    '<span class="mark" aria-hidden="true" style="color:var(--class-1)">■</span>'
    """
    colour = f"color:var(--class-{k % len(LIGHT.classes)})"
    return Html(f'<span class="mark" aria-hidden="true" style="{colour}">{shape(k).character}</span>')


def named_class(k: int, label: Any) -> Html:
    """The mark of class k and its label."""
    return Html(mark(k) + text(label))


def bar(share: float, number: str) -> Html:
    """A number beside a bar of this share of its length.

    >>> bar(0.25, "25 %")
    '25 %<span class="bar" aria-hidden="true"><i style="width:25.0%"></i></span>'
    """
    width = 100 * min(max(share, 0.0), 1.0)
    return Html(f'{text(number)}<span class="bar" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>')


def paragraph(sentence: str, kind: str = "") -> str:
    """A paragraph of plain text.

    >>> paragraph("a < b", "aside")
    '<p class="aside">a &lt; b</p>'
    """
    return f'<p class="{kind}">{_shown(sentence)}</p>' if kind else f"<p>{_shown(sentence)}</p>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    words: frozenset[int] = frozenset({0}),
    *,
    kind: str = "",
    now: frozenset[int] = frozenset(),
) -> str:
    """A table of plain cells; columns numbered in ``words`` are set as text, the others as numbers.

    The rows numbered in ``now`` are highlighted. On a phone, a wide table shows the cells of a row below each other, so
    its cells carry the heads of their columns.

    >>> table(["row"], [["<3>"]])[-44:]
    't">&lt;3&gt;</td></tr></tbody></table></div>'
    """
    cells = [list(row) for row in rows]
    stacked = _characters(heads, cells, words) > MOST_CHARACTERS_ON_PHONES

    def cell(tag: str, k: int, value: Any, named: str = "") -> str:
        kind = ' class="text"' if k in words else ""
        return f"<{tag}{kind}{named}>{_shown(value)}</{tag}>"

    names = [f' data-head="{text(name)}"' if stacked else "" for k, name in enumerate(heads)]
    head = "".join(cell("th", k, name) for k, name in enumerate(heads))
    body = "".join(
        ('<tr class="now">' if i in now else "<tr>")
        + "".join(cell("td", k, value, names[k]) for k, value in enumerate(row))
        + "</tr>"
        for i, row in enumerate(cells)
    )
    kinds = " ".join(filter(None, [kind, "stack" * stacked]))
    return TABLE.substitute(head=head, body=body, kind=f' class="{kinds}"' if kinds else "")


def _characters(heads: Sequence[str], cells: Sequence[Sequence[Any]], words: frozenset[int]) -> int:
    """The width of a table in characters: heads and text wrap at spaces, and numbers do not.

    >>> _characters(["column", "in standard errors"], [["an age", -12.5]], frozenset({0}))
    18
    """
    total = 0
    for k, head in enumerate(heads):
        shown = [head, *(str(row[k]) if k in words else str(row[k]).replace(" ", "_") for row in cells)]
        total += max(len(word) for one in shown for word in one.split() or [""]) + SPACE_BETWEEN_COLUMNS
    return total


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names with their values. A long value is folded behind its beginning.

    >>> facts([("rank", 2)])
    '<dl class="facts"><dt>rank</dt><dd>2</dd></dl>'
    """
    inner = "".join(f"<dt>{text(a)}</dt><dd>{b if isinstance(b, Html) else _folded(str(b))}</dd>" for a, b in pairs)
    return f'<dl class="facts">{inner}</dl>'


def _folded(said: str) -> str:
    if len(said) <= LONGEST_UNFOLDED_FACT:
        return text(said)
    start = max(said.rfind(mark, 0, LONGEST_UNFOLDED_FACT) for mark in (": ", "; ", ", ", " "))
    return details(
        f"{said[: start if start > 0 else LONGEST_UNFOLDED_FACT]} …",
        text(f"… {said[start if start > 0 else LONGEST_UNFOLDED_FACT :]}"),
    )


def details(summary: str, body: str) -> str:
    """HTML that unfolds when its summary is clicked.

    >>> details("a & b", "<p>c</p>")
    '<details><summary>a &amp; b</summary><p>c</p></details>'
    """
    return DETAILS.substitute(summary=text(summary), body=body)


def tiles(shown: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers, each as (name, value, text below it)."""
    inner = "".join(TILE.substitute(name=text(a), value=text(b), aside=text(c)) for a, b, c in shown)
    return f'<dl class="tiles">{inner}</dl>'


def findings(shown: Iterable[tuple[str, str]]) -> str:
    """Findings, each as (severity, HTML or text). The severity only selects a colour."""
    inner = "".join(
        FINDING.substitute(kind=SEVERITIES.get(str(kind).lower(), "note"), body=_shown(body)) for kind, body in shown
    )
    return f'<ul class="findings">{inner}</ul>' if inner else ""


def titled(title: str, sentence: str) -> Html:
    """A finding with its title in bold."""
    return Html(f"<strong>{text(title)}</strong> {text(sentence)}")


def link(section: str, title: str) -> Html:
    """A link to a section.

    >>> link("fit", "a & b")
    '<a href="#fit">a &amp; b</a>'
    """
    return Html(f'<a href="#{section}">{text(title)}</a>')


SEVERITIES = {"error": "error", "warning": "warning", "warn": "warning", "ok": "ok", "fine": "ok", "pass": "ok"}


def pair(*parts: str, kind: str = "pair") -> str:
    """Parts side by side, if there is room."""
    return f'<div class="{kind}">{"".join(parts)}</div>'


def block(*parts: str) -> str:
    """Parts one below the other, as one part of a ``pair``."""
    return f"<div>{''.join(parts)}</div>"


def page(title: str, subtitle: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole document."""
    contents = ""
    for group, parts in groupby(sections, key=lambda part: part.group):
        contents += f'<li class="group">{text(group)}</li>'
        contents += "".join(f"<li>{link(part.id, part.title)}</li>" for part in parts)
    body = "\n".join(
        SECTION.substitute(id=part.id, title=text(part.title), gloss=text(part.gloss), body=part.body)
        for part in sections
    )
    return PAGE.substitute(
        title=text(title),
        subtitle=paragraph(subtitle, "subtitle"),
        style=stylesheet(),
        lead=lead,
        contents=contents,
        sections=body,
        version=__version__,
    )
