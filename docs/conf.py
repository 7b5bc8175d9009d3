"""The documentation site: what Sphinx is told (``make docs``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS / "_ext"), str(ROOT)]

import fsopt  # noqa: E402

project, author, release = "fsopt", "the fsopt developers", fsopt.__version__
project_copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "site_hooks",  # of docs/_ext
]
exclude_patterns = ["_build", "_ext", "_verbs.md", "gallery/*.ipynb"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
nitpicky = True
nitpick_ignore_regex = [
    # Names of other packages: no inventory of theirs is read, so that the site builds without a network.
    (r"py:.*", r"(numpy|np|scipy|pyomo|pyo|pandas|sklearn|matplotlib|highspy|pyscipopt|rich|typer|click)(\..*)?"),
    (r"py:.*", r"(collections|concurrent|contextlib|pathlib|enum|types|datetime|multiprocessing|subprocess)\..*"),
    (r"py:.*", r"(os|io|sp|pd|inspect|sqlite3|fractions|decimal|distributed)\..*"),
    (
        r"py:.*",
        r"(ArrayLike|NDArray|DataFrame|Series|Path|Figure|Axes|Executor|SolverResults|Results|LinearExpression|_\w+)",
    ),
    (r"py:exc", r"(ApplicationError|IncompatibleModelError|NoOptimalSolutionError|NoFeasibleSolutionError)"),
    # Parts of nested types, type variables, and classes of modules that a function of their name hides.
    (
        r"py:.*",
        r"(list|dict|tuple|Mapping|Sequence|Iterator|Callable)\[.*|(fsopt(\.\w+)*\.)?(R|P|T|F|Descent|Result|Entry|Answer|Fraction|CutValues|Interval|ShareInterval|StationaryPoint|RiskMinimum|Search|TrustRegion|Step|Linearised|ConcaveHinge|Number|Box|Node|Row)",
    ),
    (r"py:mod", r"fsopt(\.\w+)*"),
]
suppress_warnings = [
    "config.cache",
    "mystnb.unknown_mime_type",
    "ref.python",
]  # fsopt.Fit and its module name one class

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "attrs_inline", "attrs_block", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
nb_execution_mode = "cache"
nb_execution_timeout = 240
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_execution_show_tb = True
DATA = os.environ.get("FSOPT_DATA") or os.path.join(os.environ.get("FSOPT_SHARED", ""), "data")
if os.path.isdir(DATA):
    os.environ["FSOPT_DATA"] = DATA
else:  # their stored outputs are shown: the papers' files are not part of the package
    nb_execution_excludepatterns = ["notebooks/sla.ipynb", "notebooks/mop.ipynb"]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))

napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
# Defaults as values: keywords that functions have in common stand in one of them, so that no source has them all.
autodoc_preserve_defaults = False
autodoc_use_legacy_class_based = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all of them run
    "image_scrapers": ("site_gallery.pictures",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # pages that load scripts from other servers
    "abort_on_example_error": True,
}
copybutton_selector = "div:not(.highlight-output):not(.highlight-none) > div.highlight > pre"  # outputs are not copied

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "alpha"
mathjax3_config = {"options": {"enableMenu": False}}

smartquotes_action = "qe"  # the two hyphens of an option stay two

html_theme = "furo"
html_title = f"fsopt {release}"
html_baseurl = "https://fsopt.github.io/fsopt/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
