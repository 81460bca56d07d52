#!/usr/bin/env python3
"""Turns the help pages in docs/reference into compressed man pages.

usage: man.py VERSION OUT_FOLDER PAGE.md...

amdahl.1 lists the verbs; amdahl-VERB.1 has the text of `amdahl VERB --help`.
"""
import gzip
import pathlib
import sys


def escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + text if text[:1] in (".", "'") else text


def body(lines: list[str]) -> list[str]:
    """Headings are underlined; what is indented keeps its lines."""
    out: list[str] = []
    literal = False
    for at, line in enumerate(lines):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if line and set(line) == {"-"}:
            continue
        indented = line.startswith("    ") or (literal and not line)
        if indented != literal:
            out.append(".nf" if indented else ".fi")
            literal = indented
        if line and below and set(below) == {"-"}:
            out.append(f".SH {escape(line.upper())}")
        elif line or literal:
            out.append(escape(line))
        else:
            out.append(".PP")
    if literal:
        out.append(".fi")
    return out


def head(name: str, version: str, summary: str) -> list[str]:
    return [f'.TH "{escape(name.upper())}" 1 "" "amdahl {version}" "Amdahl Loop"',
            ".SH NAME", f"{escape(name)} \\- {escape(summary)}", ".SH DESCRIPTION"]


def write(folder: pathlib.Path, name: str, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    (folder / f"{name}.1.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main() -> None:
    version, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    verbs = []
    for path in sorted(map(pathlib.Path, sys.argv[3:])):
        first, *rest = path.read_text().splitlines()
        name, colon, summary = first.partition(": ")
        if not colon or not name.startswith("amdahl "):
            sys.exit(f"{path}:1: expected 'amdahl VERB: summary', found {first!r}")
        name, summary = name.replace(" ", "-"), summary.rstrip(".")
        verbs.append((name, summary))
        write(out, name, head(name, version, summary) + body(rest))
    lines = head("amdahl", version, "find wasted accelerator time, prove fixes, bank the savings")
    lines += ["Each verb has a page of its own. Start with:", ".PP", ".nf",
              "    amdahl tune \\-\\- python3 train.py", ".fi", ".SH VERBS"]
    for name, summary in verbs:
        lines += [".TP", f".BR {escape(name)} (1)", escape(summary)]
    lines += [".SH FILES", ".TP", ".I /etc/amdahl/config.toml", "settings; see amdahl\\-config(1)",
              ".TP", ".I /var/lib/amdahl", "the ledger and the runs of the service"]
    write(out, "amdahl", lines)


main()
