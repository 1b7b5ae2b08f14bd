#!/usr/bin/env bash
# Holds what people read to short sentences: check-words.sh [--share] [PAGE..]
#
# The README has at most 150 lines. No sentence of a page of documentation, of the program's help, of the report's page or of a
# message of C, Python or R has more than 30 words. Code, tables and formulas are left out; numbers are no words, and code inside a sentence is one.
# --share prints how many sentences have more than 25 words, and fails for nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import re
import sys
from pathlib import Path

MOST_WORDS, MANY_WORDS, MOST_LINES = 30, 25, 150

# What a page has beside prose: code, comments, formulas, tables, headings, pictures.
BLOCKS = re.compile(r"^```.*?^```$|^---\n.*?^---$|<!--.*?-->|\$\$.*?\$\$", re.M | re.S)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}[^\n]*\n)+(?=\n|\Z)")
LINES = re.compile(r"^[ \t]*(\||#|!\[|:\w+:).*$", re.M)
ITEM = re.compile(r"^[ \t]*([-*+]|\d+\.)[ \t]+", re.M)
# A sentence ends at a full stop; two of them are an ellipsis. "auto: ..; none: .." is a list.
END = re.compile(r"(?<=[^.][.!?])[)\"'*_]*\s+|;\s+(?=[\w-]+: )")
SHORT = re.compile(r"\b(e\.g|i\.e|et al|vs|cf|no|fig|approx)\.\s", re.I)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def prose(text):
    """Paragraphs of a Markdown page."""
    text = LINES.sub("", INDENTED.sub("\n", BLOCKS.sub("\n\n", text)))
    text = ITEM.sub("\n\n", text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"\$[^$\n]+\$", "`code`", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.split(r"\n\s*\n", text)


def comment_free(path, text):
    if path.suffix in (".py", ".R"):
        return re.sub(r'""".*?"""|^\s*#[^\n]*', "", text, flags=re.S | re.M)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def calls(text, names):
    """The arguments of every call of one of these functions."""
    for start in re.finditer(rf"\b(?:{names})\(", text):
        depth, at, quoted = 1, start.end(), False
        while depth and at < len(text):
            c = text[at]
            if c == "\\" and quoted:
                at += 1
            elif c == '"':
                quoted = not quoted
            elif not quoted:
                depth += (c == "(") - (c == ")")
            at += 1
        yield text[start.end() : at]


def sentences_of_code(path, text):
    """Messages of the library, and help: strings side by side are one text."""
    text = re.sub(r'\s*\bPRI[diux]\w+\s*', ' "" ', comment_free(path, text))
    text = re.sub(r'"\s*"', "", text)
    if path.suffix == ".py":
        pieces = list(calls(text, r"\w*(?:Error|Warning)|warn"))
    elif path.suffix == ".c" and path.parts[0] == "src":
        pieces = list(calls(text, "sn_message|sn_fail|sn_require"))
        pieces += re.findall(r'\.help\s*=\s*"(?:[^"\\]|\\.)*"', text)
        if "sn_param" in text:  # tables of settings, whose entries end with their help
            pieces += re.findall(r'"[^"]{40,}"', text)
    else:
        pieces = [text]
    for piece in pieces:
        for string in STRING.findall(piece):
            if " " in string:
                yield re.sub(r"\n\s+\S.*", "", string.replace("\\n", "\n")).replace('\\"', "'")


def sentences(paragraph):
    paragraph = SHORT.sub(r"\1 ", " ".join(paragraph.split()))
    return [s for s in END.split(paragraph) if s]


def words(sentence):
    return sum(1 for word in sentence.split() if re.search(r"[A-Za-z]", word))


def texts(path):
    text = path.read_text()
    return prose(text) if path.suffix == ".md" else sentences_of_code(path, text)


def all_pages():
    found = [Path("README.md"), *Path("docs").rglob("*.md")]
    for folder, names in ("cli", "*.c"), ("src", "*.c"), ("src/report/page", "*.js"), ("python/src", "*.py"), ("r/R", "*.R"):
        found += Path(folder).rglob(names)
    return [path for path in sorted(found) if not path.name.startswith("test_")]


def main(arguments):
    share = "--share" in arguments
    named = [Path(name) for name in arguments if name != "--share"]
    pages = named or all_pages()
    failed, count, long = False, 0, 0
    for path in pages:
        for paragraph in texts(path):
            for sentence in sentences(paragraph):
                length = words(sentence)
                count += 1
                long += length > MANY_WORDS
                if length > MOST_WORDS and not share:
                    print(f"{path}: {length} words: {sentence}", file=sys.stderr)
                    failed = True
    lines = Path("README.md").read_text().count("\n")
    if lines > MOST_LINES and not share:
        print(f"README.md has {lines} lines, more than {MOST_LINES}", file=sys.stderr)
        failed = True
    if share:
        print(f"{long} of {count} sentences have more than {MANY_WORDS} words: {100 * long / max(count, 1):.1f} %")
    return failed


sys.exit(main(sys.argv[1:]))
PYTHON
