"""The header as Doxygen wants it: comments that it sees, and a group for each section. doxygen-filter.py HEADER"""
from __future__ import annotations

import re
import sys
from pathlib import Path

SECTION = re.compile(r"^/\* -{4} (.+?) -+ \*/$")


def main() -> None:
    header = Path(sys.argv[1])
    text = header.read_text()
    # a comment after something on its line is about that; one at the start of a line is about what follows
    text = re.sub(r"(?<=[;,{A-Z0-9a-z])([ \t]+)/\* (?!-{4})", r"\1/**< ", text)
    # "typedef enum a {..} a;" would be two things of one name
    text = re.sub(r"^typedef (enum|struct) (\w+) \{(.*?)\} \2;", r"\1 \2 {\3};", text, flags=re.M | re.S)
    lines, parts = [], 0
    for line in text.splitlines():
        section = SECTION.match(line)
        if section:
            lines += (["/** @} */"] if parts else []) + [f"/** @defgroup {header.stem}{parts} {section[1]}", " *  @{ */"]
            parts += 1
        elif line.startswith("/* ") or re.match(r"^ +/\* ", line):
            lines.append(line.replace("/* ", "/** ", 1))
        elif line.startswith("#ifdef __cplusplus") and parts:
            lines += ["/** @} */", line]
            parts = 0
        else:
            lines.append(line)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
