"""Results as tables: for pandas, and for notebooks."""
from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np


class Shown:
    """What has columns of one length can be a DataFrame and a table of HTML."""

    def _columns(self) -> Mapping[str, Any]:
        """One row of its own fields, unless it says otherwise."""
        fields: dict[str, Any] = self._asdict()  # type: ignore[attr-defined]
        return {name: [value] for name, value in fields.items()}

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self._columns()))

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = ("".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in row) for row in zip(*columns.values()))
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
