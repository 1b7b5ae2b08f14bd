"""Copies docs/ to where Sphinx works, and adds the pages that are made: commands, settings, C API.

    prepare.py ROOT OUT PROGRAM

Links out of docs/ become plain text, since the site has no such files, and pages of a list that are not there are left out of it.
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

KATEX = Path("/usr/share/javascript/katex")
SECTION = re.compile(r"^/\* -{4} (.+?) -+ \*/$", re.M)


def ask(program: str, *words: str) -> str:
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def commands(program: str) -> list[str]:
    listed = ask(program, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"^  \S", line)]


def command_page(program: str) -> str:
    """The help texts, which the program makes from its tables of options."""
    parts = ["# Commands\n\nWhat `stonet COMMAND --help` prints, for every command.\n"]
    for name in commands(program):
        parts.append(f"## stonet {name}\n\n```text\n{ask(program, name, '--help').rstrip()}\n```\n")
    return "\n".join(parts)


def cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def allowed(setting: dict[str, object]) -> str:
    choices = [str(word) for word in setting["choices"] or []]  # type: ignore[attr-defined]
    low, high = setting["low"], setting["high"]
    if low is not None and high is not None:
        choices.append(f"{low:g} to {high:g}")
    return cell(", ".join(choices))


def table(settings: list[dict[str, object]]) -> str:
    if not settings:
        return "No settings.\n"
    rows = [f"| `{s['name']}` | {cell(s['default'])} | {allowed(s)} | {cell(s['help'])} |" for s in settings]
    return "\n".join(["| setting | default | takes | |", "|---|---|---|---|", *rows, ""])


def settings_page(program: str) -> str:
    about = json.loads(ask(program, "methods", "--json"))
    parts = ["# Settings\n\nEvery setting of every method and learner, from their tables (`stonet methods NAME`).\n"]
    parts.append(f"## All methods\n\n{table(about['common'])}")
    for kind, title in (("methods", "Method"), ("learners", "Learner")):
        for one in about[kind]:
            parts.append(f"## {title} {one['name']}\n\n{one['title']}.\n\n{table(one['settings'])}")
    return "\n".join(parts)


def check_methods(program: str, page: str) -> None:
    """The tables of docs/methods.md must name every method that reduces, and no setting that a method does not have."""
    about = json.loads(ask(program, "methods", "--json"))
    rows = {cells[1].strip(" `"): re.findall(r"`([a-z_]+)`", cells[3])
            for cells in (line.split("|") for line in page.splitlines() if re.match(r"^\| `[a-z-]+` \|", line)) if len(cells) == 9}
    for method in about["methods"]:
        known = {setting["name"] for setting in method["settings"]}
        if method["name"] not in rows and method["name"] != "none":
            sys.exit(f"docs/methods.md has no row for the method {method['name']}")
        unknown = set(rows.get(method["name"], [])) - known
        if unknown:
            sys.exit(f"docs/methods.md names settings that {method['name']} does not have: {', '.join(sorted(unknown))}")


def c_page(folder: Path) -> str:
    """A heading for each section of the headers; Doxygen knows what is in it."""
    header = (folder / "stonet.h").read_text()
    parts = ["# C API\n\nPrograms include `stonet/stonet.h`, which includes the other headers. Section by section:\n"]
    about = header.split("/*\n")[1].split("*/")[0]
    text = "\n".join(line.removeprefix(" *").removeprefix(" ") for line in about.splitlines())
    parts.append(f"```text\n{text.strip()}\n```\n")
    for name in ["stonet", *re.findall(r"#include <stonet/(\w+)\.h>", header)]:
        for k, title in enumerate(SECTION.findall((folder / f"{name}.h").read_text())):
            parts.append(f"## {title[0].upper()}{title[1:]}\n\n```{{eval-rst}}\n.. doxygengroup:: {name}{k}\n   :content-only:\n```\n")
    return "\n".join(parts)


# What scikit-learn's own classes give every estimator, and people use.
INHERITED = ("fit_transform", "score", "get_feature_names_out")


def members(kind: type) -> list[str]:
    """The public methods and properties of a class that stonet's own classes define, and those of INHERITED."""
    own = [cls for cls in kind.__mro__ if cls.__module__.startswith("stonet")]
    names = [name for cls in own for name in vars(cls) if not name.startswith("_") and name not in ("get_metadata_routing", "set_output")]
    found = [name for name in names if callable(getattr(kind, name)) or isinstance(getattr(kind, name), property)]
    return list(dict.fromkeys([*found, *(name for name in INHERITED if hasattr(kind, name))]))


def class_page(name: str, about: str) -> str:
    import stonet

    kind = getattr(stonet, name)
    shares = ("\n``explained_share_``: the share of each column of Z in the effect on the output, or None where there is none.\n"
              if name.startswith("StoNet") and "explained_share_" not in (kind.__doc__ or "") else "")
    return (f"# {name}\n\n{about}\n\n```{{eval-rst}}\n.. autoclass:: stonet.{name}\n   :members: {', '.join(members(kind))}\n{shares}```\n")


def python_pages(out: Path, names: list[str]) -> None:
    """A page a class, and one that lists them, with the functions."""
    import stonet

    folder = out / "python-api"
    folder.mkdir()
    lines = []
    for name in names:
        (folder / f"{name}.md").write_text(class_page(name, "The parts are put together in [stonet from Python](../python.md)."))
        lines.append(f"| [{name}](python-api/{name}.md) | {(getattr(stonet, name).__doc__ or '').strip().splitlines()[0]} |")
    results = [name for name in stonet.__all__ if name.endswith(("Result", "Table"))]
    parts = ["# Python reference\n\nHow the parts go together is told in [stonet from Python](python.md).\n", "## Classes\n",
             "| class | |\n|---|---|\n" + "\n".join(lines) + "\n"]
    parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(f"python-api/{name}" for name in names) + "\n```\n")
    parts.append("## Functions\n\n```{eval-rst}\n" + "".join(
        f".. autofunction:: stonet.{name}\n\n" for name in ("load", "order", "importance", "independence_test",
                                                              "pool_estimates")) + "```\n")
    parts.append("## Results\n\n```{eval-rst}\n" + "".join(f".. autoclass:: stonet.{name}\n\n" for name in results) + "```\n")
    parts.append("## Data and pictures\n\n```{eval-rst}\n.. automodule:: stonet.datasets\n   :members:\n\n"
                 ".. automodule:: stonet.plot\n   :members:\n```\n")
    parts.append("## Errors\n\n```{eval-rst}\n.. automodule:: stonet.errors\n   :members:\n```\n")
    (out / "python-api.md").write_text("\n".join(parts))


def inside(text: str) -> str:
    """Links out of docs/ as plain text; comments for the tests of the pages (run: ..) are not for readers."""
    text = re.sub(r"<!-- run.*?-->\n?", "", text, flags=re.S)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)([^)]+)\)", r"\1 (`\2`)", text)


def drop_absent(page: Path) -> None:
    """Lines of a table of contents, and of a list, that name a page that is not there (yet)."""
    lines = []
    for line in page.read_text().splitlines():
        named = re.match(r"^- \[[^\]]+\]\(([^):]+\.md)\)", line) or re.match(r"^([a-z][a-z0-9_/-]*)$", line)
        if named and not line.endswith("_made/index"):
            path = page.parent / (named[1] if named[1].endswith(".md") else named[1] + ".md")
            if not path.exists():
                continue
        lines.append(line)
    page.write_text("\n".join(lines) + "\n")


def add_unnamed(index: Path) -> None:
    """Pages that no list names, at the end of the last one: a new page is on the site without more ado."""
    text = index.read_text()
    named = set(re.findall(r"^([a-z][a-z0-9_/-]*)$", text, flags=re.M))
    rest = sorted(page.stem for page in index.parent.glob("*.md") if page.stem not in named and page != index)
    place = text.rindex("```")
    index.write_text(text[:place] + "".join(f"{name}\n" for name in rest) + text[place:])


def main() -> None:
    root, out, program = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(root / "docs", out, ignore=shutil.ignore_patterns("site"))
    shutil.copy(root / "examples/reduce.c", out / "howto/reduce.c")
    for page in out.rglob("*.md"):
        page.write_text(inside(page.read_text()))
    (out / "commands.md").write_text(command_page(program))
    check_methods(program, (root / "docs/methods.md").read_text())
    (out / "settings.md").write_text(settings_page(program))
    (out / "c-api.md").write_text(c_page(root / "include/stonet"))
    names: dict[str, list[str]] = {}
    exec((root / "python/src/stonet/_names.py").read_text(), names)
    python_pages(out, list(names["ESTIMATORS"]))
    drop_absent(out / "index.md")
    add_unnamed(out / "index.md")
    static = out / "_static"
    (static / "katex").mkdir(parents=True)
    for name in ("katex.min.js", "katex.min.css"):
        shutil.copy(KATEX / name, static / "katex" / name)
    shutil.copytree(KATEX / "fonts", static / "katex" / "fonts")
    shutil.copy(root / "docs/site/conf.py", out / "conf.py")
    for name in ("math.js", "site.css"):
        shutil.copy(root / "docs/site" / name, static / name)


if __name__ == "__main__":
    main()
