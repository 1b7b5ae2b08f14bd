"""The site: Sphinx over a copy of docs/ that prepare.py makes. Everything it needs is in Debian, and the pages need no network."""
from __future__ import annotations

import html
import os
import re
import warnings
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

ROOT = Path(os.environ["STONET_ROOT"])
NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")
warnings.filterwarnings("ignore", category=DeprecationWarning)


def version_of_header() -> str:
    lines = (ROOT / "include/stonet/stonet.h").read_text().splitlines()
    parts = {line.split()[1]: line.split()[2] for line in lines if line.startswith("#define STONET_VERSION_")}
    return ".".join(parts[f"STONET_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))


project = "stonet"
author = "the authors of stonet"
copyright = author
release = version = version_of_header()
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "breathe",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
exclude_patterns = ["site", "gallery", "tutorial", "gallery_made/**/*.ipynb", "**/sg_execution_times.rst"]
root_doc = "index"
language = "en"
nitpicky = False
suppress_warnings = ["myst.header", "config.cache"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"stonet {release}"
html_static_path = ["_static"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = ["katex/katex.min.js", "math.js"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

breathe_projects = {"stonet": os.environ["STONET_XML"]}
breathe_default_project = "stonet"
breathe_domain_by_extension = {"h": "c"}

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = True

sphinx_gallery_conf = {
    "examples_dirs": ["tutorial", "gallery"],
    "gallery_dirs": ["tutorial_made", "gallery_made"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"$^",
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "show_signature": False,
    "capture_repr": (),  # the value of a last line is an address more often than a sentence
}

# What is linked from disk must be there; other sites are not asked for their health on every build.
linkcheck_ignore = [r"https?://.*"]


def math_inline(self, node):  # type: ignore[no-untyped-def]
    self.body.append(f'<span class="math-tex">{html.escape(node.astext())}</span>')
    raise_skip()


def math_block(self, node):  # type: ignore[no-untyped-def]
    self.body.append(f'<div class="math-tex display">{html.escape(node.astext())}</div>')
    raise_skip()


def raise_skip() -> None:
    from docutils.nodes import SkipNode

    raise SkipNode


def escape_docstring(app, what, name, thing, options, lines):  # type: ignore[no-untyped-def]
    """Docstrings are prose: a bar or an underscore at the end of a name means itself."""
    for k, line in enumerate(lines):
        if "``" not in line:
            line = re.sub(r"(?<!\\)\|", r"\\|", line)
        if not line.startswith(".. attribute::"):
            lines[k] = re.sub(r"(?<![`\w])([A-Za-z]\w*)_(?=[^\w`]|$)", r"\1\\_", line)


def mend_theme(app, exception):  # type: ignore[no-untyped-def]
    """Debian's furo asks a server for normalize.css, has lost the rules that follow a dark desktop, and has a script that is a
    module, which a browser does not load from disk."""
    static = Path(app.outdir) / "_static"
    style, script, spy = static / "styles/furo.css", static / "scripts/furo.js", static / "scripts/gumshoe-patched.js"
    asked, imported = "@import url(/javascript/normalize.css/normalize.css);", 'import Gumshoe from "./gumshoe-patched.js";'
    if exception is None and style.exists() and asked in style.read_text():
        text = style.read_text().replace(asked, "")
        dark = re.findall(r'body\[data-theme="dark"\][^{}]*\{[^{}]*\}', text)
        automatic = "\n".join(rule for rule in dark if "theme-toggle" not in rule).replace('"dark"', '"auto"')
        style.write_text(f"{NORMALIZE.read_text()}{text}\n@media screen and (prefers-color-scheme: dark) {{\n{automatic}\n}}\n")
    if exception is None and script.exists() and imported in script.read_text():
        script.write_text(spy.read_text() + script.read_text().replace(imported, ""))


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("build-finished", mend_theme)
    app.connect("autodoc-process-docstring", escape_docstring, priority=600)
    app.add_html_math_renderer("katex-from-disk", (math_inline, None), (math_block, None))


html_math_renderer = "katex-from-disk"
