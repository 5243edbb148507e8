"""The results of a graded class: one CSV, one page per student, one page for the class. Everything shown is escaped."""

import csv
import hashlib
import html
import re
from pathlib import Path

STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #009E73; --bad: #D55E00; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem; border-bottom: 1px solid var(--line); }
tbody th { width: 14rem; } td.why { white-space: pre-line; }
td.points, thead th.points { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.passed td.points { color: var(--good); } tr.failed td.points { color: var(--bad); }
pre { overflow-x: auto; font-size: .85rem; } summary { cursor: pointer; font-size: .85rem; }
.note { border-left: 3px solid var(--bad); padding-left: .7rem; } .scroll { overflow-x: auto; }
footer { margin-top: 2rem; font-size: .85rem; opacity: .75; }
"""


def write_reports(out: Path, results: list, exercises: dict[str, tuple], receipt: str) -> None:
    """Write scores.csv, index.html and one page per student to `out`.

    `results` are grade.Result, `exercises` maps chapters to their exercises, `receipt` says how it was graded.
    """
    students: dict[str, list] = {}
    for result in results:
        students.setdefault(result.student, []).append(result)
    columns = [item for chapter in exercises.values() for item in chapter]
    _write_csv(out / "scores.csv", students, columns)
    titles = {item.id: item.title for item in columns}
    for student, own in students.items():
        (out / page_name(student)).write_text(_student(student, own, titles, receipt), encoding="utf-8")
    (out / "index.html").write_text(_summary(students, columns, receipt), encoding="utf-8")


def page_name(student: str) -> str:
    """Return a file name for a student's page: readable, safe, and different for different students."""
    plain = re.sub(r"[^\w-]+", "_", student)[:60].strip("_")
    digest = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return f"student_{plain or 'unnamed'}_{digest}.html"


def _write_csv(path, students, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", *(item.id for item in columns), "points", "out_of", "notes"])
        for student, own in students.items():
            points = {verdict.exercise: verdict.points for result in own for verdict in result.verdicts}
            notes = "; ".join(f"{result.chapter}: {note}" for result in own for note in result.notes)
            writer.writerow(
                [
                    _cell(student),
                    *(points.get(item.id, 0) for item in columns),
                    _sum(own, "points"),
                    _sum(own, "out_of"),
                    _cell(notes),
                ]
            )


def _cell(text):
    """Keep a spreadsheet from taking a student's text for a formula."""
    text = text.encode("utf-8", "replace").decode()
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t") else text


def _sum(results, name):
    return sum(getattr(result, name) for result in results)


def _student(student, results, titles, receipt):
    parts = [f"<p>{_sum(results, 'points')} of {_sum(results, 'out_of')} points</p>"]
    for result in results:
        parts.append(f"<h2>Chapter {_text(result.chapter)}: {result.points} of {result.out_of}</h2>")
        parts += [f"<p class='note'>{_text(note)}</p>" for note in result.notes]
        rows = "".join(
            f"<tr class='{'passed' if verdict.points else 'failed'}'><th scope='row'>{_text(verdict.exercise)} "
            f"{_text(titles.get(verdict.exercise, ''))}</th><td class='points'>{verdict.points} / {verdict.out_of}</td>"
            f"<td class='why'>{_text(verdict.message)}{_answer(result.answers.get(verdict.exercise))}</td></tr>"
            for verdict in result.verdicts
        )
        head = "<tr><th>exercise</th><th class='points'>points</th><th>why</th></tr>"
        parts.append(f"<div class='scroll'><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>")
    return _page(student, "".join(parts), receipt)


def _answer(source):
    """Show what was graded, with the hash of its text, folded."""
    if source is None:
        return ""
    digest = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"<details><summary>the answer cell that was graded ({digest})</summary><pre>{_text(source)}</pre></details>"


def _summary(students, columns, receipt):
    head = "".join(f"<th scope='col' class='points'>{_text(item.id)}</th>" for item in columns)
    rows, notes = [], []
    for student, own in students.items():
        points = {verdict.exercise: verdict.points for result in own for verdict in result.verdicts}
        cells = "".join(f"<td class='points'>{points.get(item.id, 0)}</td>" for item in columns)
        rows.append(
            f"<tr><th scope='row'><a href='{page_name(student)}'>{_text(student)}</a></th>{cells}"
            f"<td class='points'>{_sum(own, 'points')} / {_sum(own, 'out_of')}</td></tr>"
        )
        notes += [
            f"<li>{_text(student)}, chapter {_text(result.chapter)}: {_text(note)}</li>"
            for result in own
            for note in result.notes
        ]
    verdicts = [verdict for own in students.values() for result in own for verdict in result.verdicts]
    solved = [sum(verdict.points > 0 for verdict in verdicts if verdict.exercise == item.id) for item in columns]
    foot = "".join(f"<td class='points'>{count}/{len(students)}</td>" for count in solved)
    table = (
        f"<thead><tr><th>student</th>{head}<th class='points'>total</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody><tfoot><tr><th scope='row'>solved by</th>{foot}<td></td></tr></tfoot>"
    )
    listed = f"<h2>Notes</h2><ul>{''.join(notes)}</ul>" if notes else ""
    return _page("Class summary", f"<div class='scroll'><table>{table}</table></div>{listed}", receipt)


def _page(title, body, receipt):
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width'><title>{_text(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{_text(title)}</h1>{body}<footer>{_text(receipt)}</footer></body></html>\n"
    )


def _text(value):
    return html.escape(str(value).encode("utf-8", "replace").decode())
