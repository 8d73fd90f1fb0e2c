"""The page Fisher: turning the direction shows the numbers of ``sx.along``."""

import numpy as np

import separatrix as sx

from .waiting import until


def fact(page, name):
    return page.locator(f"tr[data-fact='{name}'] td").inner_text()


def until_fact_is(page, name, count):
    shown = "document.querySelector(`tr[data-fact='${name}'] td`)?.innerText"
    until(page, f"([name, count]) => {shown} === count", arg=[name, str(count)])


def until_J_is(page, J):
    """The numbers come a moment after the address."""
    shown = """document.querySelector("tr[data-fact='J'] td")?.innerText"""
    until(page, f"J => Math.abs(parseFloat({shown}) - J) < 6e-4", arg=J)


def test_turning_by_keys_and_to_the_best_direction_shows_the_numbers_of_the_library(opened):
    page = opened("#fisher?p=elongated&a=20")
    X, y = sx.lab.points("elongated")
    page.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowRight")
    until(page, "() => location.hash.includes('a=29')")
    turned = sx.along(X, y, [np.cos(np.radians(29)), np.sin(np.radians(29))])
    until_J_is(page, turned.J)
    until_fact_is(page, "wrong by the midpoint", turned.wrong_by_midpoint)
    until_fact_is(page, "wrong by Gaussians", turned.wrong_by_posterior)
    page.get_by_role("button", name="Fisher").click()
    until(page, "() => !location.hash.includes('a=29')")
    until_J_is(page, turned.best_J)
    assert fact(page, "J") == fact(page, "largest J")
