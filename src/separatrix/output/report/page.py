"""The page of a report: its templates and parts, its numbers in words, its figures as SVG, and its style sheet.

Only the function ``text`` puts text from the data into HTML. The page loads nothing and runs no scripts; a content
security policy enforces this in the browser. Colours are CSS variables, light and dark, so figures follow the reader's
setting.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from string import Template
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from separatrix._version import __version__
from separatrix.core.base.messages import number_text
from separatrix.output.plots.display import BROAD, Display, style
from separatrix.output.theme import DARK, LIGHT, Theme, shape

# --- The page and its parts

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
    end = start if start > 0 else LONGEST_UNFOLDED_FACT
    return details(f"{said[:end]} …", text(f"… {said[end:]}"))


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
        style=_SHEET.substitute(light=variables(LIGHT), dark=variables(DARK)),
        lead=lead,
        contents=contents,
        sections=body,
        version=__version__,
    )


# --- Numbers and sentences

# A list in a sentence names at most this many things.
MOST_NAMED = 3


def percent(share: float, digits: int = 1) -> str:
    r"""A share in per cent, with a no-break space.

    >>> percent(0.9793), percent(1.0)
    ('97.9\xa0%', '100\xa0%')
    """
    return f"{100 * share:.{digits}f}".removesuffix("." + "0" * digits) + "\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 4) -> str:
    """A number as people write it; lines do not break after its minus sign.

    >>> number(-0.5), number(12345.0)
    ('−0.5', '12,345')
    """
    return number_text(value, digits).replace("-", "\N{MINUS SIGN}")


def signed(value: float, spec: str | None = None) -> str:
    """A number with its sign, by default with three significant digits; lines do not break after a minus sign.

    >>> signed(-2.5), signed(2.5), signed(0.0), signed(2.5, ".2f")
    ('−2.5', '+2.5', '0', '+2.50')
    """
    shown = number(value, 3) if spec is None else f"{value:{spec}}".replace("-", "\N{MINUS SIGN}")
    return f"+{shown}" if value > 0 else shown


def interval(shown: str) -> str:
    """Text whose lines may break before an interval but not within it."""
    value, bracket, rest = shown.partition(" (")
    return value.replace(" ", "\N{NO-BREAK SPACE}") + bracket + rest.replace(" ", "\N{NO-BREAK SPACE}")


def some(names: Sequence[Any], most: int = MOST_NAMED) -> str:
    """The names as a list in words; at most a few, then the number of others.

    >>> some(["a"]), some(["a", "b"]), some(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b, c and 1 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def stated(sentence: str) -> str:
    """A status as a sentence: with a capital letter and a full stop.

    >>> stated("it stopped")
    'It stopped.'
    """
    return f"{sentence[:1].upper()}{sentence[1:]}."


# --- Figures as SVG

SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "separatrix", "path.simplify": True}
METADATA_LEFT_OUT = ("Date", "Creator", "Format", "Type")
# Coordinates are cut to two decimals: a hundredth of 1/72 inch is invisible.
LONG_DECIMALS = re.compile(r"(\d\.\d\d)\d+")
# The most characters of a text alternative.
LONGEST_ALTERNATIVE = 1500
REFERENCE = re.compile(r"url\(#([^)]+)\)")
VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.roles().items()}
COLOUR = re.compile("|".join(VARIABLES), re.IGNORECASE)


def figure(display: Display, name: str, caption: str) -> str:
    """The display as a figure with a caption, and its numbers in words. ``name`` must be unique on the page.

    >>> import numpy as np
    >>> from separatrix.output.plots.confusion import ConfusionDisplay
    >>> html = figure(ConfusionDisplay(np.array([[2, 1], [0, 3]]), np.array(["a & b", "c"])), "f1", "Counts.")
    >>> "a &amp; b" in html, "var(--class-0)" in html, "http" in html
    (True, True, False)
    """
    kind = "broad" if display.size[0] >= BROAD else "narrow"
    return FIGURE.substitute(kind=kind, svg=svg(display, name), caption=text(caption))


def svg(display: Display, name: str) -> str:
    """The display as an SVG element, whose text alternative is made of the numbers of the display.

    matplotlib writes the SVG. It is parsed as XML and rewritten, so that names from the data cannot be mistaken for
    markup. Text stays text, colours become CSS variables, and ids are unique on the page.
    """
    with style("light"), mpl.rc_context(SETTINGS), warnings.catch_warnings():
        # The browser draws the text with its own fonts, so glyphs missing from matplotlib's font do not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        drawn = Figure(figsize=display.size, layout="constrained")
        display.plot(drawn.subplots())
        out = io.StringIO()
        drawn.savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(METADATA_LEFT_OUT))
    root = ElementTree.fromstring(out.getvalue())
    _rewrite(root, name)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", _printable(display.alternative))
    return ElementTree.tostring(root, encoding="unicode")


def _printable(told: str) -> str:
    """Text that XML allows, and not without end."""
    shown = "".join(c if c.isprintable() else " " for c in told[: LONGEST_ALTERNATIVE + 1])
    return shown if len(shown) <= LONGEST_ALTERNATIVE else shown[:LONGEST_ALTERNATIVE] + "…"


def _rewrite(root: ElementTree.Element, name: str) -> None:
    """Remove metadata, styles, namespaces, unused ids and white space, and make ids unique, in place."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    used = _referred(root)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = _attributes(element, name, used)
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None


def _attributes(element: ElementTree.Element, name: str, used: set[str]) -> dict[str, str]:
    """The attributes without namespaces and without unused ids."""
    kept = {key: value for key, value in element.attrib.items() if key != "id" or value in used}
    bare = {key.rpartition("}")[2]: value for key, value in kept.items()}
    return {key: _value(key, value, name) for key, value in bare.items()}


def _referred(root: ElementTree.Element) -> set[str]:
    """The ids that some element refers to."""
    ids = set[str]()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                ids.add(value.removeprefix("#"))
            ids.update(REFERENCE.findall(value))
    return ids


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value.removeprefix('#')}"
    if key in ("d", "x", "y", "points"):
        return " ".join(LONG_DECIMALS.sub(r"\1", value).split())
    value = REFERENCE.sub(rf"url(#{name}-\1)", value)
    if key == "style":
        value = COLOUR.sub(lambda match: VARIABLES[match.group().lower()], value)
        kept = [part.strip() for part in value.split(";") if not part.strip().startswith("font-family")]
        return "; ".join(kept)
    return value


# --- The style sheet


def variables(theme: Theme) -> str:
    """A theme's colours as CSS variables.

    >>> variables(LIGHT)[:16]
    '--paper: #ffffff'
    """
    return "; ".join(f"--{name}: {colour}" for name, colour in theme.roles().items())


# In the colours and sizes of ``output/theme.py``, for wide and narrow screens and for paper.
_SHEET = Template("""
:root { $light }
@media screen and (prefers-color-scheme: dark) { :root { $dark } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--body); font-variant-numeric: tabular-nums;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", Helvetica,
    Arial, sans-serif; }
.page { max-width: 1240px; margin: 0 auto; padding: 24px 24px 48px; }
h1, h2, h3, h4, strong, b { color: var(--ink); font-weight: 600; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: break-word; }
h2 { font-size: 18px; line-height: 1.3; margin: 0 0 12px; }
h2 .gloss { color: var(--muted); font-size: 13.5px; font-weight: 400; margin-left: 8px; }
h3 { font-size: 15px; margin: 16px 0 8px; }
p, ul { margin: 0 0 12px; max-width: 70ch; overflow-wrap: break-word; }
a { color: inherit; text-decoration-color: var(--muted); text-underline-offset: .2em; }
a:hover { color: var(--ink); text-decoration-color: currentColor; }
section { border-top: 1px solid var(--rule); padding-top: 24px; margin-top: 32px; }
.subtitle, .aside, figcaption, footer { color: var(--muted); font-size: 13.5px; }
.subtitle { max-width: none; }
nav { font-size: 13.5px; }
nav ul { list-style: none; margin: 0; padding: 0 0 8px; max-width: none; display: flex; gap: 16px; overflow-x: auto; }
nav li { white-space: nowrap; }
nav li.group { display: none; }
nav a { color: var(--muted); text-decoration: none; }
nav a:hover { color: var(--ink); }
.lead { display: grid; gap: 16px 32px; margin-top: 16px; }
.verdict { font-size: 18px; line-height: 1.45; color: var(--ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 12px; margin: 16px 0 0; }
.tile { border: 1px solid var(--rule); border-radius: 8px; padding: 12px; }
.tile dt { color: var(--muted); font-size: 12px; }
.tile dd { margin: 0; }
.tile strong { display: block; font-size: 24px; line-height: 1.3; white-space: nowrap; }
.tile span { display: block; color: var(--muted); font-size: 12px; line-height: 1.4; overflow-wrap: break-word; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 24px 32px;
  align-items: start; }
.pair > * { min-width: 0; }
@media (min-width: 1000px) { .pair.broad-right { grid-template-columns: minmax(0, 9fr) minmax(0, 11fr); } }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; font-family: inherit; overflow: visible; }
figure.narrow { max-width: 40rem; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { margin-top: 8px; max-width: 70ch; overflow-wrap: break-word; }
figure.broad { overflow-x: auto; margin-bottom: 16px; }
figure.broad svg { min-width: 40rem; }
.wide { overflow-x: auto; max-width: 100%; margin: 0 0 16px; }
/* A shadow at the side where there is more: where there is none, paper that scrolls along with the table hides it. */
.wide, nav ul {
  background: linear-gradient(to right, var(--paper) 50%, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 50%, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to right, var(--rule), transparent) left / .5rem 100% no-repeat scroll,
    linear-gradient(to left, var(--rule), transparent) right / .5rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { text-align: right; padding: 5px 0 5px 12px; border-bottom: 1px solid var(--rule); vertical-align: top;
  white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
th { color: var(--muted); font-weight: 400; font-size: 12px; vertical-align: bottom; }
td.text, th.text { text-align: left; white-space: normal; }
td.text { min-width: 6rem; overflow-wrap: break-word; color: var(--ink); }
.intervals td { white-space: normal; }
tr.now td { background: var(--highlight); color: var(--ink); }
tr.now td:first-child { box-shadow: -8px 0 var(--highlight); }
.bar { display: inline-block; width: 6rem; height: 8px; border-radius: 4px; background: var(--rule); overflow: hidden;
  vertical-align: middle; margin-left: 8px; }
.bar i { display: block; height: 100%; background: var(--ink); }
.mark { margin-right: 4px; }
details { margin: 0 0 12px; }
summary { cursor: pointer; color: var(--muted); }
dd details { margin: 0; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; margin: 0 0 16px; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; min-width: 0; overflow-wrap: break-word; color: var(--ink); }
ul.findings { list-style: none; padding: 0; margin: 0 0 12px; max-width: none; }
.finding { border-left: 3px solid var(--muted); padding: 2px 0 2px 12px; margin: 0 0 8px; max-width: 80ch; }
.finding.error { border-color: var(--alarm); }
.finding.warning { border-color: var(--warn); }
.finding.ok { border-color: var(--ok); }
.cases { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18.5rem), 1fr)); gap: 12px;
  margin: 0 0 16px; }
.case { border: 1px solid var(--rule); border-radius: 8px; padding: 12px; min-width: 0; }
.case h4 { font-size: 13.5px; margin: 0; overflow-wrap: break-word; }
.case p { font-size: 13.5px; margin: 0 0 8px; }
.case ul { list-style: none; margin: 0; padding: 0; font-size: 12px; }
.case li { display: grid; grid-template-columns: minmax(0, 1fr) 4.5rem 3.2rem; gap: 8px; align-items: center;
  border-top: 1px solid var(--rule); padding: 3px 0; }
.case li span.name { overflow-wrap: break-word; min-width: 0; }
.case li span.name b { white-space: nowrap; font-weight: 400; }
.case li b.part { text-align: right; white-space: nowrap; font-weight: 400; }
.two { position: relative; height: 8px;
  background: linear-gradient(var(--muted), var(--muted)) center / 1px 100% no-repeat; }
.two i { position: absolute; top: 0; height: 100%; }
.two i.for { left: 50%; }
.two i.against { right: 50%; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: 13px;
  background: var(--surface); border-radius: 6px; padding: 2px 6px; overflow-wrap: anywhere; }
code.long { padding: 0; background: none; font-size: 12px; }
footer { border-top: 1px solid var(--rule); margin-top: 40px; padding-top: 16px; }
@media screen and (min-width: 1000px) {
  .page { display: grid; grid-template-columns: 168px minmax(0, 1fr); column-gap: 40px; }
  .page > header, .page > footer { grid-column: 1 / -1; }
  nav { position: sticky; top: 16px; align-self: start; max-height: calc(100vh - 32px); overflow-y: auto;
    margin-top: 16px; }
  nav ul { display: block; }
  nav li { white-space: normal; margin: 0 0 6px; line-height: 1.35; }
  nav li.group { display: block; color: var(--muted); font-size: 12px; letter-spacing: .04em; margin: 16px 0 6px;
    text-transform: uppercase; }
  nav a { color: var(--body); }
  #checks ul.findings { columns: 2; column-gap: 32px; }
  #checks .finding { break-inside: avoid; }
  .lead.warned { grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr); }
}
@media (max-width: 30rem) {
  .page { padding: 16px 16px 32px; }
  h1 { font-size: 20px; }
  h2 .gloss { display: block; margin: 2px 0 0; }
  .verdict { font-size: 15px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  .tile { padding: 8px 10px; }
  .tile strong { font-size: 18px; }
  th, td { padding-left: 10px; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: 8px; }
  .bar { width: 4rem; }
  th { white-space: normal; }
}
@media screen and (max-width: 30rem) {
  /* The cells of a row flow below its first cell, each with the head of its column. */
  .stack, .stack tbody { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { display: flex; flex-wrap: wrap; gap: 2px 20px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .stack td { display: flex; flex: 1 1 9.5rem; justify-content: space-between; gap: 8px; padding: 0; border: 0; }
  .stack td:first-child { flex-basis: 100%; justify-content: flex-start; }
  .stack td::before { content: attr(data-head); color: var(--muted); font-size: 12px; line-height: 1.65;
    text-align: left; white-space: normal; }
  .stack tr.now { background: var(--highlight); box-shadow: -8px 0 var(--highlight), 8px 0 var(--highlight); }
  .stack tr.now td { background: none; box-shadow: none; }
}
@media print {
  body { font-size: 11px; }
  .page { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  .pair { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
  figure.broad { overflow: visible; }
  figure.broad svg { min-width: 0; max-width: 100%; }
  figure, table, tr, dl.facts, .tile, .finding, .case { break-inside: avoid; }
  thead { display: table-header-group; }
  h2, h3 { break-after: avoid; }
  section { margin-top: 1.2rem; padding-top: 1rem; }
}
""")
