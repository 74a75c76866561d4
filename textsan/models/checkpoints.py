"""The state of a training, so that one that is killed goes on where it stopped: weights and moments, no pickle."""

import os
from collections.abc import Mapping
from pathlib import Path


def save(checkpoint: Path, parameters: Mapping, optimizer, step: int, of: str = "") -> None:
    """Weights and the optimizer's moments as safetensors, written whole or not at all.

    Args:
        of: which training it is the state of; `load` can ask for that one.
    """
    from safetensors.torch import save_file

    tensors = {f"weight {name}": value.detach() for name, value in parameters.items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"moment {number} {name}": value for name, value in moments.items()}
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    part = checkpoint.with_name(checkpoint.name + ".part")
    save_file(tensors, part, metadata={"step": str(step), "of": of})
    os.replace(part, checkpoint)


def load(checkpoint: Path | None, parameters: Mapping, of: str = "") -> dict | None:
    """Put the weights into the parameters.

    Args:
        checkpoint: what `save` wrote; None or no file is no state.
        of: as for `save`. The state of another training is no state.

    Returns:
        {"step": steps done, "moments": the optimizer's state by parameter number}; None where there is no state.
    """
    from safetensors import safe_open

    if checkpoint is None or not checkpoint.is_file():
        return None
    moments: dict[int, dict] = {}
    with safe_open(checkpoint, framework="pt") as file:
        about = file.metadata()
        if about.get("of", "") != of:
            return None
        for key in file.keys():
            kind, name, *rest = key.split(" ")
            if kind == "weight":
                parameters[name].data.copy_(file.get_tensor(key))
            else:
                moments.setdefault(int(name), {})[rest[0]] = file.get_tensor(key)
    return {"step": int(about["step"]), "moments": moments}
