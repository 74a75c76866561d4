"""Causal models by name: read once, kept whole, and one line where there is none."""

import json

import numpy as np
import pytest

from textsan.base import assets
from textsan.models import causal

torch = pytest.importorskip("torch")
pytest.importorskip("gguf")


def test_weights_are_those_of_the_file(default_data):
    """The gguf package, on its own, de-quantizes a tensor to the same numbers."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    model = causal.load_causal(precision="float32")
    assert not model.training and sum(p.numel() for p in model.parameters()) == 134_515_008
    assert model.lm_head.weight is model.model.embed_tokens.weight
    reader = GGUFReader(assets.fetch(causal.CAUSAL) / "model.gguf")
    tensor = next(t for t in reader.tensors if t.name == "blk.3.ffn_down.weight")
    expected = dequantize(tensor.data, tensor.tensor_type)
    np.testing.assert_allclose(model.model.layers[3].mlp.down_proj.weight.numpy(), expected, rtol=0, atol=0)


def test_bfloat16_says_nearly_the_same(default_data):
    pieces = torch.tensor([causal.load_causal_tokenizer()(" a film about a man who knew too much").input_ids])
    with torch.inference_mode():
        logs = [
            causal.load_causal(precision=p)(pieces).logits.float().log_softmax(-1) for p in ("float32", "bfloat16")
        ]
    assert (logs[0] - logs[1]).abs()[logs[0] > -8].mean() < 0.1
    with pytest.raises(ValueError, match=r"^precision: 'int8' is unknown; pass 'float32' or 'bfloat16'$"):
        causal.load_causal(precision="int8")


def test_damaged_copy_is_made_again(monkeypatch, tmp_path):
    """A model made of the file is hashed; a copy that is not as it was written is not read."""

    def convert(folder, stage):
        (stage / "model.safetensors").write_bytes(b"weights")
        record = {"model.safetensors": assets.file_sha256(stage / "model.safetensors")}
        (stage / "sha256.json").write_text(json.dumps(record))

    monkeypatch.setattr(causal, "_convert", convert)
    source = tmp_path / "toy"
    source.mkdir()
    for harm in (b"", b"Weights"):
        causal._converted.cache_clear()
        target = causal._converted("toy", source)
        assert (target / "model.safetensors").read_bytes() == b"weights"
        (target / "model.safetensors").write_bytes(harm)
    monkeypatch.setattr(causal, "_convert", lambda folder, stage: 1 / 0)  # killed in the middle
    causal._converted.cache_clear()
    with pytest.raises(ZeroDivisionError):
        causal._converted("toy", source)
    assert not list(tmp_path.glob("*.part-*")) and not (tmp_path / "toy-safetensors").exists()
    causal._converted.cache_clear()


def test_missing_model_is_one_line(default_data, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for load in (causal.load_causal, causal.load_causal_tokenizer):
        with pytest.raises(assets.FetchError, match=r"^model: 'nobody/no-model' is not in the registry[^\n]*$"):
            load("nobody/no-model")
        with pytest.raises(ValueError, match=r"^model: 'glove-6b-50d' is embedding, not a model; [^\n]*$"):
            load("glove-6b-50d")
    with pytest.raises(ValueError, match=r"^model: 'all-minilm-l6-v2' has no causal language-model head; [^\n]*$"):
        causal.load_causal("all-minilm-l6-v2", precision="float32")
