"""What is sent is what was written, with fewer spaces and without comments."""

import re

import pytest

from separatrix.lab.bundle import bundled
from separatrix.lab.front_end import embedded_texts, static_texts
from separatrix.lab.minify import minified_script, minified_style
from separatrix.lab.pages import PAGES

SOURCES = {**static_texts(), **embedded_texts()}
SCRIPTS = sorted(name for name in SOURCES if name.endswith(".js"))
# The tokens of JavaScript that the front end uses. A regular expression comes after punctuation or a space; longer
# operators come first, as in the language.
TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<token>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\n])*`
    |(?<=[(,=:\[ ])/(?![ *=])(?:[^/\\\n\[]|\\.|\[[^\]\n]*\])+/[a-z]*|>>>=?|\.\.\.|===|!==|\*\*=|&&=|\|\|=|\?\?=|<<=|>>=
    |=>|==|!=|<=|>=|\*\*|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|<<|>>|[-+*/%&|^]=|[\w$\u0080-\uffff]+|\S)""",
    re.DOTALL | re.VERBOSE,
)
CODE = """
// A comment with `, " and '.
import { a } from "./a.js"; // another one
const re = /[/"`]+\\/ x/g, text = "a  //  b", other = 'it is  /* text */';
/** A function
 *  with a long comment. */
export function f(x, y) {
  const near = x + +y - -1, part = x / 2 / y, word = `${x ? `${y} ` : "}"}  ${{ a }.a}  //`;
  return {
    near, part,
    word: x ?? .5 ? [word] : text,
  };
}
"""


def tokens(text):
    """The tokens without semicolons before a closing brace, and numbers without the zero before the point."""
    found = [one["token"] for one in TOKENS.finditer(text) if one["token"]]
    kept = [one for one, after in zip(found, [*found[1:], ""], strict=True) if (one, after) != (";", "}")]
    return re.sub(r"(?<![\w.$] )0 (?=\. \d)", "", " ".join(kept)).split(" ")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_keeps_its_tokens(name):
    assert tokens(minified_script(SOURCES[name])) == tokens(SOURCES[name])


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_template_literal_spans_lines(name):
    assert all(line.count("`") % 2 == 0 for line in SOURCES[name].split("\n"))


def test_strings_templates_regular_expressions_and_signs_stay_as_they_are():
    assert minified_script(CODE) == (
        'import{a}from "./a.js";const re=/[/"`]+\\/ x/g,text="a  //  b",other=\'it is  /* text */\';'
        "export function f(x,y){"
        'const near=x + +y - -1,part=x/2/y,word=`${x ? `${y} ` : "}"}  ${{ a }.a}  //`;'
        "return{near,part,word:x??.5?[word]:text,}}\n"
    )


def test_a_line_end_stays_where_a_statement_may_end():
    assert minified_script("let a = b\nlet c = a\n++c\n") == "let a=b\nlet c=a\n++c\n"
    assert minified_script("class A {\n  x = 1\n  f() { return this\n  }\n}\nA.f()\n") == (
        "class A{x=1\nf(){return this}}A.f()\n"
    )


@pytest.mark.parametrize("text", ["const a = `one\ntwo`;", "const a = b /c;", "const a = 'one", "a = 1 /2"])
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(ValueError, match="not handled"):
        minified_script(text)


def test_a_style_sheet_keeps_what_has_a_meaning():
    made = minified_style("@media (max-width: 9px) {\n  a :hover > b + i { width: calc(1px + 2px); }\n  /* c */\n}\n")
    assert made == "@media (max-width:9px){a :hover>b + i{width:calc(1px + 2px)}}\n"
    assert len(minified_style(SOURCES["style.css"])) < 0.9 * len(SOURCES["style.css"])


def test_a_bundle_can_be_minified_as_a_whole():
    script = bundled(SOURCES, "main.js", [f"{page.name}.js" for page in PAGES])
    assert tokens(minified_script(script)) == tokens(script)
