"""Every public function, class and method has a docstring in numpydoc's form, which agrees with its signature."""

import enum
import inspect
import re
from types import ModuleType

import pytest

import separatrix as sx

# Parameters that scikit-learn defines and describes, and that a docstring need not repeat.
NOT_DESCRIBED = {"self", "cls", "deep", "params"}


def public_names(module):
    """The names that a module declares, or else those of the functions and classes that it defines."""
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in defined if not name.startswith("_")])


def public():
    """Every public function and class, by the name under which users find it."""
    found = {}
    for name in sx.__all__:
        value = getattr(sx, name)
        if isinstance(value, ModuleType):
            found |= {f"{name}.{inner}": getattr(value, inner) for inner in public_names(value)}
        else:
            found[name] = value
    return found


FUNCTIONS = {name: value for name, value in public().items() if inspect.isfunction(value)}
CLASSES = {name: value for name, value in public().items() if inspect.isclass(value)}
# Interfaces: each describes its methods once, for all classes that implement it.
INTERFACES = {name: kind for name, kind in CLASSES.items() if getattr(kind, "_is_protocol", False)}
BUILT = {
    name: kind
    for name, kind in CLASSES.items()
    if name not in INTERFACES and not inspect.isabstract(kind) and not issubclass(kind, enum.Enum | BaseException)
}
METHODS = {
    f"{name}.{inner}": value
    for name, kind in CLASSES.items()
    for inner, value in inspect.getmembers(kind, lambda value: inspect.isfunction(value) or inspect.ismethod(value))
    if not inner.startswith("_") and value.__module__.startswith("separatrix")
}


def sections(text):
    """From the title of each section of a docstring to its lines."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """The names that a section describes: ``X, y : array`` describes two."""
    heads = re.findall(r"^(\*{0,2}\w[^\n:]*?)(?: ?:.*)?$", section, re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def not_described(value, *titles):
    found = sections(inspect.getdoc(value) or "")
    names = set().union(*(described(found.get(title, "")) for title in titles))
    return [name for name in inspect.signature(value).parameters if name not in NOT_DESCRIBED | names]


def says_what_it_returns(value):
    return inspect.signature(value).return_annotation in ("None", None) or bool(
        {"Returns", "Yields"} & sections(inspect.getdoc(value) or "").keys()
    )


def test_the_checks_find_faults():
    def lacking(X, y: int) -> int:
        """A sentence.

        Parameters
        ----------
        X : array
            The rows.
        """

    assert not_described(lacking, "Parameters") == ["y"]
    assert not says_what_it_returns(lacking)
    assert {"evaluate", "firth.fit", "labels.encode"} <= FUNCTIONS.keys()
    assert {"LogisticRegression", "solvers.Newton", "information.Normal"} <= BUILT.keys()
    assert {"LogisticRegression.fit", "Certificate.verify", "losses.Hinge.value"} <= METHODS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function(name):
    function = FUNCTIONS[name]
    assert not_described(function, "Parameters") == []
    assert says_what_it_returns(function)
    assert "Examples" in sections(inspect.getdoc(function))
    assert ">>>" in inspect.getdoc(function)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class(name):
    assert inspect.getdoc(CLASSES[name]).strip()
    assert CLASSES[name].__doc__  # its own


@pytest.mark.parametrize("name", BUILT)
def test_a_class_that_is_built(name):
    """Its docstring describes what it is made of; if users make it, it has an example."""
    kind = BUILT[name]
    assert not_described(kind, "Parameters", "Other Parameters", "Attributes") == []
    if "Parameters" in sections(inspect.getdoc(kind)):
        assert ">>>" in inspect.getdoc(kind)


# Users call the methods of these classes; those of losses, links, solvers and densities follow an interface.
CALLED = [name for name in METHODS if name[0].isupper() or name.startswith("plots.")]


@pytest.mark.parametrize("name", CALLED)
def test_a_method_that_users_call(name):
    method = METHODS[name]
    assert (inspect.getdoc(method) or "").strip()
    assert not_described(method, "Parameters") == []
    assert says_what_it_returns(method)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in CALLED])
def test_another_method_or_its_interface_has_a_docstring(name):
    module, _, method = name.split(".")
    interfaces = [kind for found, kind in INTERFACES.items() if found.startswith(f"{module}.")]
    texts = [inspect.getdoc(METHODS[name]), *(inspect.getdoc(getattr(kind, method, None)) for kind in interfaces)]
    assert any(text and text.strip() for text in texts if text != inspect.getdoc(None))
