"""The hub route, for real: huggingface_hub against a server on 127.0.0.1 that speaks the hub's paths.

The client runs in a process of its own, because huggingface_hub reads HF_ENDPOINT when it is imported.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

REVISION = "0123456789abcdef0123456789abcdef01234567"
CLIENT = """
import sys
from pathlib import Path
from textsan.base import assets
assets._REGISTRY = Path(sys.argv[1])
try:
    print(assets.fetch("toy"))
except assets.FetchError as error:
    print(error)
    sys.exit(1)
"""


def _sha256(content):
    return hashlib.sha256(content).hexdigest()


class _Hub(BaseHTTPRequestHandler):
    """Serves `server.files` (path -> content); `server.trouble` says what goes wrong."""

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, with_body):
        server = self.server
        server.requests[self.command, self.path] += 1
        prefix = f"/datasets/some/repo/resolve/{REVISION}/"
        content = server.files.get(self.path.removeprefix(prefix)) if self.path.startswith(prefix) else None
        if server.trouble == "503 first" and server.requests[self.command, self.path] == 1:
            return self._send(503, {}, b"busy", with_body)
        if content is None or server.trouble == "404":
            return self._send(404, {"X-Error-Code": "EntryNotFound"}, b"", with_body)
        headers = {"ETag": f'"{server.etags(content)}"', "X-Repo-Commit": REVISION}
        if server.trouble == "wrong body":
            content = content[:-1] + bytes([content[-1] ^ 1])
        self._send(200, headers, content, with_body, cut=server.trouble == "truncated")

    def _send(self, status, headers, content, with_body, cut=False):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = True


@pytest.fixture
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.files, server.trouble, server.requests, server.etags = {}, None, Counter(), _sha256
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def fetch(hub, tmp_path):
    """Fetch the asset "toy", one file `data/train.parquet` of the hub, in a process of its own."""

    def run(sha256=None):
        wanted = f', sha256 = "{sha256}"' if sha256 else ""
        registry = tmp_path / "registry.toml"
        registry.write_text(
            f"""[assets.toy]
source = "hub"
repo = "some/repo"
repo_type = "dataset"
revision = "{REVISION}"
files = [{{ path = "train.parquet", inside = ["data/train.parquet"]{wanted} }}]
"""
        )
        environment = {
            **os.environ,
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HOME": str(tmp_path / "hf"),
            "NO_PROXY": "127.0.0.1",
            "TEXTSAN_CACHE": str(tmp_path / "cache"),
        }
        client = [sys.executable, "-c", CLIENT, str(registry)]
        return subprocess.run(client, env=environment, capture_output=True, text=True, timeout=120)

    return run


CONTENT = b"PAR1 not really parquet, but hashed all the same " * 2000


def _kept(tmp_path):
    cache = tmp_path / "cache"
    assert not list(cache.glob(".toy.part-*"))
    return {p.name: p.read_bytes() for p in (cache / "toy").glob("**/*") if p.is_file()}


def test_good_file(hub, fetch, tmp_path):
    hub.files["data/train.parquet"] = CONTENT
    done = fetch(_sha256(CONTENT))
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "cache" / "toy"
    assert _kept(tmp_path)["train.parquet"] == CONTENT
    asked = sum(hub.requests.values())
    assert fetch(_sha256(CONTENT)).returncode == 0
    assert sum(hub.requests.values()) == asked  # a warm cache asks nobody


@pytest.mark.parametrize("pinned", [True, False], ids=["hash in the registry", "hash of the hub"])
def test_wrong_hash(hub, fetch, tmp_path, pinned):
    hub.files["data/train.parquet"] = CONTENT
    hub.trouble = "wrong body"
    done = fetch(_sha256(CONTENT) if pinned else None)
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert "data/train.parquet of some/repo" in done.stdout and "has the wrong hash" in done.stdout
    assert _kept(tmp_path) == {}
    hub.trouble = None
    assert fetch(_sha256(CONTENT) if pinned else None).returncode == 0
    assert _kept(tmp_path)["train.parquet"] == CONTENT


def test_pinned_hash_is_not_overruled_by_the_hubs_own(hub, fetch, tmp_path):
    hub.files["data/train.parquet"] = CONTENT  # the hub is sound in itself, but serves another file
    done = fetch(_sha256(b"what the registry wants"))
    assert done.returncode == 1 and f"not {_sha256(b'what the registry wants')}" in done.stdout
    assert _kept(tmp_path) == {}


@pytest.mark.parametrize("trouble, said", [("truncated", "be downloaded"), ("404", "cannot be downloaded: 404")])
def test_a_file_that_does_not_come_is_a_line(hub, fetch, tmp_path, trouble, said):
    hub.files["data/train.parquet"] = CONTENT
    hub.trouble = trouble
    done = fetch(_sha256(CONTENT))
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("\n") == 1 and said in done.stdout
    assert _kept(tmp_path) == {}


@pytest.mark.parametrize("kind", ["large", "small"])
def test_hash_of_the_hub_is_recorded_and_demanded(hub, fetch, tmp_path, kind):
    if kind == "small":  # git's own hash, which the hub gives for files outside its large-file store
        hub.etags = lambda content: hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    hub.files["data/train.parquet"] = CONTENT
    assert fetch().returncode == 0
    kept = _kept(tmp_path)
    assert json.loads(kept[f".sha256-{REVISION}.json"]) == {"train.parquet": _sha256(CONTENT)}
    asked = sum(hub.requests.values())
    assert fetch().returncode == 0 and sum(hub.requests.values()) == asked

    file = tmp_path / "cache" / "toy" / "train.parquet"
    file.write_bytes(CONTENT.replace(b"hashed", b"hAshed", 1))
    again = fetch()
    assert again.returncode == 0
    assert f"{file}: damaged" in again.stderr
    assert _kept(tmp_path)["train.parquet"] == CONTENT

    file.unlink()
    hub.files["data/train.parquet"] = CONTENT + b"another"  # a pinned revision cannot change: this is no good
    changed = fetch()
    assert changed.returncode == 1 and f"not {_sha256(CONTENT)}" in changed.stdout
    assert not file.exists()
