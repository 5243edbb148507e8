"""The debugging page explains every finding that the emulator can make."""

import re

from ptxemu.findings import SEVERITY
from tools.common import ROOT

PAGE = (ROOT / "book" / "debugging.md").read_text()


def test_every_rule_is_explained_once():
    table = PAGE.partition("| Rule | What happened | Chapter |")[2].partition("\n\n")[0]
    explained = re.findall(r"\*([a-z-]+)\*", table)
    assert sorted(explained) == sorted(SEVERITY)
