"""The samples of deploy/logs parse, and name only fields that an audit line has."""

import configparser
import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "deploy" / "logs"
FIELDS = json.loads((ROOT / "docs" / "audit.schema.json").read_text())["properties"].keys()

# File, and what a name of a field looks like in it.
NAMED = [
    ("vector.yaml", r"\bline\.(\w+)"),
    ("fluent-bit.conf", r"\$(\w+)"),
    ("fluent-bit-parsers.conf", r"Time_Key\s+(\w+)"),
    ("alloy.alloy", r'(\w+) = "\1"'),
]


@pytest.mark.parametrize("name, form", NAMED)
def test_fields_that_are_named_exist(name, form):
    named = set(re.findall(form, (LOGS / name).read_text()))
    assert named and named <= FIELDS, named - FIELDS


@pytest.mark.parametrize("name", ["vector.yaml", "fluent-bit.conf", "alloy.alloy"])
def test_the_file_read_is_where_the_packaged_config_writes(name):
    packaged = re.search(r'^path = "(.+)"$', (ROOT / "config/stile.toml").read_text(), re.M)[1]
    assert packaged in (LOGS / name).read_text()


def test_vector_pipeline_is_connected():
    config = yaml.safe_load((LOGS / "vector.yaml").read_text())
    known = {*config["sources"], *config["transforms"], "stile_parsed.dropped"}
    for part in [*config["transforms"].values(), *config["sinks"].values()]:
        assert set(part["inputs"]) <= known
    assert config["transforms"]["stile_parsed"]["reroute_dropped"] is True


def test_alloy_components_are_connected():
    text = (LOGS / "alloy.alloy").read_text()
    made = {f"{kind}.{name}" for kind, name in re.findall(r'^([\w.]+) "(\w+)" \{$', text, re.M)}
    used = {name.rpartition(".")[0] for name in re.findall(r"[\w.]+\.(?:receiver|targets)\b", text)}
    assert used and used < made
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("name, section", [("stiled-journal.conf", "Service"),
                                           ("journald-stile.conf", "Journal")])
def test_drop_ins_have_the_section_that_they_are_for(name, section):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(LOGS / name)
    assert parser.sections() == [section]


def test_fluent_bit_uses_the_parser_beside_it():
    config = (LOGS / "fluent-bit.conf").read_text()
    file = re.search(r"Parsers_File\s+(\S+)", config)[1]
    parser = re.search(r"^\s+Parser\s+(\S+)", config, re.M)[1]
    assert re.search(rf"Name\s+{parser}$", (LOGS / file).read_text(), re.M)
