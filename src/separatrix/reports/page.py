"""The page: all templates and styles, and ``text``, the only function that puts text from the data into HTML.

The page loads nothing and runs no scripts; a content security policy enforces this in the browser. Colours are CSS
variables, light and dark, so figures follow the reader's setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import Any

from separatrix._version import __version__
from separatrix.base.theme import DARK, LIGHT, Theme

# The most characters shown of a name or a sentence, and the length from which a fact is folded.
LONGEST_TEXT, LONGEST_UNFOLDED_FACT = 2000, 240
SPACES = "\n\N{NO-BREAK SPACE}"

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
<main>
<header><h1>$title</h1>$lead</header>
<nav aria-label="Contents"><ul>$contents</ul></nav>
$sections
<footer>Made by separatrix $version. One file: nothing in it runs or is fetched.</footer>
</main>
</body>
</html>
""")
SECTION = Template('<section id="$id"><h2>$title</h2>\n$body\n</section>')
FIGURE = Template('<figure class="$kind">$svg<figcaption>$caption</figcaption></figure>')
TABLE = Template('<div class="wide"><table><thead><tr>$head</tr></thead><tbody>$body</tbody></table></div>')
TILE = Template('<div class="tile"><dt>$name</dt><dd><strong>$value</strong><span>$aside</span></dd></div>')
DETAILS = Template("<details><summary>$summary</summary>$body</details>")
FINDING = Template('<li class="finding $kind"><strong>$title</strong> $sentence</li>')

STYLE = Template("""
:root { $light }
@media screen and (prefers-color-scheme: dark) { :root { $dark } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Helvetica, Arial,
    sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p, ul { max-width: 44rem; margin: 0 0 .75rem; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--rule); padding-top: 1.5rem; margin-top: 2rem; }
.verdict { font-size: 1.1rem; }
.aside, figcaption, footer { color: var(--muted); font-size: .875rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.tile { border: 1px solid var(--rule); border-radius: .5rem; padding: .7rem .9rem; }
.tile dt { color: var(--muted); font-size: .8rem; }
.tile dd { margin: 0; }
.tile strong { display: block; font-size: 1.45rem; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }
.tile span { display: block; color: var(--muted); font-size: .8rem; overflow-wrap: anywhere; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; margin: 0; font-size: .9rem;
  max-width: none; }
a { color: var(--class-0); text-underline-offset: .15em; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem 2rem;
  align-items: start; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; max-width: 30rem; height: auto; font-family: inherit; overflow: visible; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { margin-top: .5rem; max-width: 30rem; overflow-wrap: anywhere; }
figure.broad { overflow-x: auto; margin-bottom: 1.25rem; }
figure.broad svg { max-width: none; min-width: 44rem; }
figure.broad figcaption { max-width: 44rem; }
/* A shadow at the side where there is more: where there is none, paper that scrolls along with the table hides it. */
.wide { overflow-x: auto; max-width: 100%; margin: 0 0 1rem;
  background: linear-gradient(to right, var(--paper) 50%, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 50%, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to right, var(--muted), transparent) left / .5rem 100% no-repeat scroll,
    linear-gradient(to left, var(--muted), transparent) right / .5rem 100% no-repeat scroll; }
details { margin: 0 0 .75rem; }
summary { cursor: pointer; }
dd details { margin: 0; }
dd details[open] summary { color: var(--muted); }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--muted); font-weight: 500; max-width: 12rem; overflow-wrap: break-word; }
td.text, th.text { text-align: left; max-width: 18rem; }
td.text { overflow-wrap: anywhere; min-width: 2.5rem; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1rem;
  max-width: 48rem; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
ul.findings { list-style: none; padding: 0; }
.finding { border-left: 3px solid var(--muted); padding: .1rem 0 .1rem .75rem; margin: 0 0 .6rem; }
.finding.error { border-color: var(--alarm); }
.finding.warning { border-color: var(--class-1); }
.finding.ok { border-color: var(--class-2); }
.finding strong { display: block; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
footer { border-top: 1px solid var(--rule); margin-top: 2.5rem; padding-top: 1rem; }
@media (max-width: 30rem) {
  main { padding: 1rem .9rem 2rem; }
  h1 { font-size: 1.2rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; }
  .tile { padding: .5rem .65rem; }
  .tile strong { font-size: 1.15rem; }
  th, td { padding-right: .5rem; }
  td.text { min-width: 3.5rem; overflow-wrap: anywhere; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .5rem; }
}
@media print {
  html { font-size: 80%; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  .pair { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
  figure.broad { overflow: visible; }
  figure.broad svg { min-width: 0; max-width: 100%; }
  figure, table, tr, dl.facts, .tile, .finding { break-inside: avoid; }
  thead { display: table-header-group; }
  h2, h3 { break-after: avoid; }
  section { margin-top: 1.2rem; padding-top: 1rem; }
}
""")


@dataclass(frozen=True)
class Section:
    """A part of the page; ``body`` is HTML already."""

    id: str
    title: str
    body: str


def text(value: Any) -> str:
    """Any text as HTML: escaped, printable, and not without end. All text from the data goes through here.

    >>> text("<b> & 'c'" + chr(0))
    '&lt;b&gt; &amp; &#x27;c&#x27;�'
    """
    shown = "".join(c if c.isprintable() or c in SPACES else "\ufffd" for c in str(value)[: LONGEST_TEXT + 1])
    return escape(shown if len(shown) <= LONGEST_TEXT else shown[:LONGEST_TEXT] + "…", quote=True)


def variables(theme: Theme) -> str:
    """A theme's colours as CSS variables.

    >>> variables(LIGHT)[:16]
    '--paper: #ffffff'
    """
    return "; ".join(f"--{name}: {colour}" for name, colour in theme.roles().items())


def paragraph(sentence: str, kind: str = "") -> str:
    """A paragraph of plain text.

    >>> paragraph("a < b", "aside")
    '<p class="aside">a &lt; b</p>'
    """
    return f'<p class="{kind}">{text(sentence)}</p>' if kind else f"<p>{text(sentence)}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], words: frozenset[int] = frozenset({0})) -> str:
    """A table of plain cells; columns numbered in ``words`` are set as text, the others as numbers.

    >>> table(["row"], [["<3>"]])[-44:]
    't">&lt;3&gt;</td></tr></tbody></table></div>'
    """

    def cell(kind: str, k: int, value: Any) -> str:
        return f'<{kind} class="text">{text(value)}</{kind}>' if k in words else f"<{kind}>{text(value)}</{kind}>"

    head = "".join(cell("th", k, name) for k, name in enumerate(heads))
    body = "".join("<tr>" + "".join(cell("td", k, v) for k, v in enumerate(row)) + "</tr>" for row in rows)
    return TABLE.substitute(head=head, body=body)


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names with their values. A long value is folded behind its beginning.

    >>> facts([("rank", 2)])
    '<dl class="facts"><dt>rank</dt><dd>2</dd></dl>'
    """
    return '<dl class="facts">' + "".join(f"<dt>{text(a)}</dt><dd>{_folded(str(b))}</dd>" for a, b in pairs) + "</dl>"


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


def findings(shown: Iterable[tuple[str, str, str]]) -> str:
    """Findings, each as (severity, title, sentence). The severity only selects a colour."""
    inner = "".join(
        FINDING.substitute(kind=SEVERITIES.get(str(kind).lower(), "note"), title=text(title), sentence=text(sentence))
        for kind, title, sentence in shown
    )
    return f'<ul class="findings">{inner}</ul>'


SEVERITIES = {"error": "error", "warning": "warning", "warn": "warning", "ok": "ok", "fine": "ok", "pass": "ok"}


def pair(*parts: str) -> str:
    """Parts side by side, if there is room."""
    return f'<div class="pair">{"".join(parts)}</div>'


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole document."""
    contents = "".join(f'<li><a href="#{part.id}">{text(part.title)}</a></li>' for part in sections)
    body = "\n".join(SECTION.substitute(id=part.id, title=text(part.title), body=part.body) for part in sections)
    style = STYLE.substitute(light=variables(LIGHT), dark=variables(DARK))
    return PAGE.substitute(
        title=text(title), style=style, lead=lead, contents=contents, sections=body, version=__version__
    )
