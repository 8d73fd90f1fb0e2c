"""The ES modules of the front end as one script, for pages without a server.

A content security policy can allow an inline script by its hash in every browser, but a module that another one
imports only by its address. So each module becomes a function that returns what the module exports,

    $modules["dom.js"] = await (async () => { ...; return { h, s }; })();

in an order in which imports come first. This handles the few forms of import and export that the front end uses, and
refuses all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{ ([\w, ]+) \}) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import\b(?!\()|export\b).*", re.MULTILINE)
_DYNAMIC = re.compile(r'\bimport\((?=["`]\./)')
# What would end the script, or change how the browser reads it.
_MARKUP = re.compile(r"</script|<script|<!--", re.IGNORECASE)
_LOAD = 'const $modules = {}, $load = async name => $modules[name.replace("./", "")];'


def bundled(texts: Mapping[str, str], entry: str, also: Iterable[str] = ()) -> str:
    r"""The script that runs the module ``entry``; ``also`` are modules that it imports by a name made at run time.

    >>> texts = {"a.js": 'import { b } from "./b.js";\nprint(b);', "b.js": "export const b = 1;"}
    >>> print(bundled(texts, "a.js"))
    const $modules = {}, $load = async name => $modules[name.replace("./", "")];
    $modules["b.js"] = await (async () => {
    const b = 1;
    return { b }; })();
    $modules["a.js"] = await (async () => {
    const { b } = $modules["b.js"];
    print(b);
    return {  }; })();
    """
    order: dict[str, None] = {}
    for name in (*also, entry):
        _visit(texts, name, order, ())
    exports = {name: [found[2] for found in _EXPORT.finditer(texts[name])] for name in order}
    for name in order:
        _check(name, texts[name], exports)
    return "\n".join([_LOAD, *(_function(name, texts[name], exports[name]) for name in order)])


def _visit(texts: Mapping[str, str], name: str, order: dict[str, None], above: tuple[str, ...]) -> None:
    """Put a module after those that it imports."""
    if name in above:
        raise ValueError(f"the modules {', '.join(above)} import each other")
    for found in _IMPORT.finditer(texts[name]):
        _visit(texts, found[3], order, (*above, name))
    order[name] = None


def _check(name: str, text: str, exports: Mapping[str, list[str]]) -> None:
    """Refuse what is not understood. These are errors of the front end, not of its user."""
    for found in _OTHER.finditer(_EXPORT.sub("", _IMPORT.sub("", text))):
        raise ValueError(f"{name}: {found[0]!r} is a form of import or export that is not handled")
    if markup := _MARKUP.search(text):
        raise ValueError(f"{name}: {markup[0]!r} cannot stand in an inline script")
    for found in _IMPORT.finditer(text):
        for one in (found[2] or "").replace(" ", "").split(","):
            if one and one not in exports[found[3]]:
                raise ValueError(f"{name}: {found[3]} does not export {one!r}")


def _function(name: str, text: str, exports: list[str]) -> str:
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(_taken, _DYNAMIC.sub("$load(", text)))
    return f'$modules["{name}"] = await (async () => {{\n{body.rstrip()}\nreturn {{ {", ".join(exports)} }}; }})();'


def _taken(found: re.Match[str]) -> str:
    names = found[1] or f"{{ {found[2]} }}"
    return f'const {names} = $modules["{found[3]}"];'
