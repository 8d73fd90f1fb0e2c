"""Settings of the site: ``make docs`` builds it into ``site/``, with every warning an error."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from sphinx.application import Sphinx

import separatrix as sx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# The public modules are attributes of the package; autodoc looks for modules of their names.
for name in sx.__all__:
    if inspect.ismodule(getattr(sx, name)):
        sys.modules[f"separatrix.{name}"] = getattr(sx, name)
sys.modules["separatrix.plots.figures"] = sx.plots.figures

project = "Separatrix"
author = "The Separatrix developers"
copyright = f"{author}; BSD-3-Clause"
version = release = sx.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "plain_docstrings",
    "command_help",
    "shell_session",
    "lecture_figure",
    "lab_links",
]
exclude_patterns = ["pictures", "data", "gallery"]
templates_path = ["_templates"]
smartquotes = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 80

# The pages are CommonMark, as the host of the repository shows them; headings have anchors made the same way.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# The reference: one page for each public name, with the docstring's own words for types.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False

# The gallery: scripts that run while the site is built, with the pictures that they draw.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": "",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "reset_modules": ("matplotlib",),
    "image_srcset": ["2x"],
}

# No fonts, scripts or pictures from other hosts: the site reads the same from a disk.
html_theme = "pydata_sphinx_theme"
html_title = "Separatrix"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Separatrix"},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "tour": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "quickstart": [], "tour": [], "exercises/index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _without_blank_ends(app: Sphinx, name: str, source: list[str]) -> None:
    """Doctest needs a blank line after an example's last output; the page does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: Sphinx) -> None:
    """Prepare the text of each page."""
    app.connect("source-read", _without_blank_ends)
