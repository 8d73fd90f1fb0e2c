"""What the settings of each classifier can be, for forms: a page's controls and the help of a command.

Everything comes from the classifier's description and the signature of its class, so a new classifier is here as soon
as it is in ``OFFERED``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal

from separatrix.base.declarations import declared_keys
from separatrix.base.errors import ParameterError
from separatrix.classifiers import CLASSIFIERS, OFFERED, describe
from separatrix.classifiers.description import Description, Setting

Kind = Literal["number", "integer", "choice", "switch", "text"]
# A slider whose ends have at least this ratio is logarithmic.
LOGARITHMIC_RATIO = 100.0
# The range of a number whose description has none: from its default divided by this, to its default times this.
RANGE_AROUND_DEFAULT = 1000.0


@dataclass(frozen=True)
class SettingRange:
    """What one setting of a classifier can be.

    Attributes
    ----------
    parameter, option : str
        Its names in Python and on the command line.
    kind : "number", "integer", "choice", "switch" or "text"
        What a form shows: a slider, a list of words, a switch, or a field for any text.
    default : object
        The value that the class has without it.
    choices : tuple
        The values of a choice. For a number, words that it may be instead, such as "auto".
    low, high : float or None
        The ends of a slider.
    logarithmic : bool
        Whether the slider is logarithmic.
    about : str
        The help text.
    """

    parameter: str
    option: str
    kind: Kind
    default: Any
    choices: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    logarithmic: bool = False
    about: str = ""


def setting_ranges(classifier: str) -> tuple[SettingRange, ...]:
    """What the settings of a classifier can be.

    Parameters
    ----------
    classifier : str
        Its name on the command line, such as "perceptron".

    Returns
    -------
    tuple of SettingRange

    Examples
    --------
    >>> {found.parameter: found.choices for found in setting_ranges("fisher")}
    {'direction': ('fisher', 'means'), 'threshold': ('gaussian', 'midpoint')}
    >>> C = setting_ranges("logistic")[0]
    >>> C.kind, C.default, C.low, C.high, C.logarithmic
    ('number', 1.0, 0.001, 1000.0, True)
    """
    if classifier not in OFFERED:
        raise ParameterError("classifier", f"got {classifier!r}", f"choose one of {', '.join(OFFERED)}")
    description = describe(classifier)
    signature = inspect.signature(CLASSIFIERS[classifier].__init__).parameters
    return tuple(
        _range(setting, description, signature[setting.parameter].default)
        for setting in description.settings
        if setting.parameter in signature
    )


def _range(setting: Setting, description: Description, default: Any) -> SettingRange:
    names, about = (setting.parameter, setting.option), setting.help
    if setting.flag is not None:
        return SettingRange(*names, "switch", default, (False, True), about=about)
    if setting.type in (float, int):
        low, high = setting.span or _around(default)
        kind: Kind = "integer" if setting.type is int else "number"
        logarithmic = low > 0 and high / low >= LOGARITHMIC_RATIO
        return SettingRange(*names, kind, default, setting.words, low, high, logarithmic, about)
    choices: tuple[Any, ...] = description.offers.get(setting.parameter, setting.words)
    if setting.names:
        choices = declared_keys(*setting.names.split(":"))
    if not choices:
        return SettingRange(*names, "text", default, about=about)
    if default not in choices:
        choices = (default, *choices)
    return SettingRange(*names, "choice", default, choices, about=about)


def _around(default: Any) -> tuple[float, float]:
    """The ends of a slider for a number without a range of its own."""
    size = abs(float(default)) if isinstance(default, int | float) and default else 1.0
    return size / RANGE_AROUND_DEFAULT, size * RANGE_AROUND_DEFAULT
