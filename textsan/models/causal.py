"""Causal language models by name: pinned weights without code or pickle, float32 or bfloat16.

The default is SmolLM2-135M as the package index has it: instruction-tuned, four bits a weight, one GGUF file. It
is read once; from then on its weights lie in the cache as safetensors.
"""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

from textsan.base import assets
from textsan.models.encoders import pick_device, quiet

CAUSAL = "smollm2-135m"
"""The default path's causal model. It stands for the base model in full precision, and for larger ones."""

Precision = Literal["float32", "bfloat16"]

_GGUF = "model.gguf"


def load_causal(name: str = CAUSAL, *, precision: Precision = "float32"):
    """Load a transformers model for causal language modelling, to evaluate, on a GPU where there is one.

    Args:
        name: a causal model of the registry (smollm2-135m, gpt2), or else the name of one on the Hugging Face hub.
        precision: of weights and products. "bfloat16" rounds to 8 bits, and is faster on a GPU and on a processor
            with tiles for it.

    Raises:
        ValueError: another precision, or the model is no causal language model.
        FetchError: it is neither in the cache nor to be had from the network.

    >>> load_causal(precision="bfloat16").dtype  # doctest: +SKIP
    torch.bfloat16
    """
    import torch
    from transformers import AutoModelForCausalLM

    if precision not in ("float32", "bfloat16"):
        raise ValueError(f"precision: {precision!r} is unknown; pass 'float32' or 'bfloat16'")
    options = {"dtype": getattr(torch, precision), "use_safetensors": True, "output_loading_info": True}
    model, loading = _from_folder_or_hub(AutoModelForCausalLM, name, **options)
    if loading["missing_keys"]:
        raise ValueError(f"model: {name!r} has no causal language-model head; {CAUSAL} has one")
    return model.requires_grad_(False).eval().to(pick_device())


def load_causal_tokenizer(name: str = CAUSAL):
    """Load the transformers tokenizer of a causal model.

    >>> load_causal_tokenizer().tokenize(" a film")  # doctest: +SKIP
    ['Ġa', 'Ġfilm']
    """
    from transformers import AutoTokenizer

    return _from_folder_or_hub(AutoTokenizer, name)


def _from_folder_or_hub(kind, name: str, **options):
    """`kind.from_pretrained` of a registered model's folder; of the hub, where the registry does not have it."""
    registered = assets.registry()["assets"].get(name)
    if registered is not None and registered["kind"] != "model":
        raise ValueError(f"model: {name!r} is {registered['kind']}, not a model; pass {CAUSAL!r}, for example")
    with quiet():
        if registered is not None:
            folder = assets.fetch(name)
            folder = _converted(name, folder) if (folder / _GGUF).is_file() else folder
            return kind.from_pretrained(folder, local_files_only=True, **options)
        try:
            return kind.from_pretrained(name, **options)
        except OSError as error:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise assets.FetchError(
                f"model: {name!r} is not in the registry, and the Hugging Face hub does not give it ({why}); "
                f"pass {CAUSAL!r}, which comes from the package index"
            ) from None


@cache
def _converted(name: str, folder: Path) -> Path:
    """A folder with the weights of a GGUF file as safetensors in float32, made once; hashed once a process."""
    from filelock import FileLock

    target = folder.with_name(f"{name}-safetensors")
    with FileLock(folder.with_name(f".{name}-safetensors.lock")):
        if not _is_whole(target):
            shutil.rmtree(target, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=f".{name}-safetensors.part-", dir=folder.parent) as stage:
                _convert(folder, Path(stage))
                os.replace(stage, target)
    return target


def _convert(folder: Path, stage: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"gguf_file": _GGUF, "local_files_only": True}
    AutoTokenizer.from_pretrained(folder, **options).save_pretrained(stage)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options)
    # Not `save_pretrained`, which refuses weights that were quantized once.
    tied = {name for name in model.state_dict() if name == "lm_head.weight" and model.config.tie_word_embeddings}
    weights = {name: value.contiguous() for name, value in model.state_dict().items() if name not in tied}
    save_file(weights, stage / "model.safetensors", metadata={"format": "pt"})
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.save_pretrained(stage)
    record = {path.name: assets.file_sha256(path) for path in stage.iterdir() if path.is_file()}
    (stage / "sha256.json").write_text(json.dumps(record, indent=1))


def _is_whole(target: Path) -> bool:
    """Tell whether every file is as it was written."""
    with suppress(OSError, ValueError):
        record = json.loads((target / "sha256.json").read_text(encoding="utf8"))
        return all(assets.file_sha256(target / path) == sha256 for path, sha256 in record.items())
    return False
