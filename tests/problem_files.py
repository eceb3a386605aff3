"""A problem file as the plain data that the oracle reads, by a reader of its own: no code of attncalc's."""

import yaml

KEPT = {"1": "1", "true": "1", "yes": "1", "0": "0", "false": "0", "no": "0"}
HIDDEN = ("-inf", "-.inf", "−∞")


def data_of(text):
    """The data of a problem file whose matrices are written out, or are `identity` and as wide as H."""
    said = yaml.load(text, Loader=yaml.BaseLoader)
    show = said.pop("show", {})
    data = {key: said[key] for key in said if key not in ("title", "lang", "tokens", "vocabulary", "mask", "published")}
    if "shift" in show:
        data["shift"] = show["shift"]
    for key in ("kv_heads", "d_k"):
        if key in data:
            data[key] = int(data[key])
    if isinstance(data.get("heads"), str):
        data["heads"] = int(data["heads"])
    for key in [key for key in data if data[key] == "identity"]:
        width = len(data["H"][0])
        data[key] = [["1" if i == j else "0" for j in range(width)] for i in range(width)]
    if "scale" in data and data["scale"] not in ("sqrt_d_k", "none"):
        by = data["scale"]
        data["scale"] = ("multiply", by["multiply"]) if isinstance(by, dict) else ("divide", by)
    memory = data.pop("memory", {})
    if "H" in memory:
        data["memory"] = memory["H"]
    if "padding" in data:
        data["padding"] = entries(data["padding"], KEPT)
    mask = mask_of(said.get("mask", "none"))
    return data | ({"mask": mask} if mask else {})


def decimals_of(text):
    """The decimals that a problem file shows, by step, with a default."""
    said = yaml.load(text, Loader=yaml.BaseLoader).get("show", {}).get("decimals", {})
    by_step = said if isinstance(said, dict) else {"default": said}
    return {id: int(places) for id, places in by_step.items()}


def mask_of(said):
    if said in ("none", "causal"):
        return {"causal": True} if said == "causal" else {}
    if isinstance(said, list):
        said = {"add": said}
    mask = dict(said)
    if "causal" in mask:
        mask["causal"] = KEPT[mask["causal"]] == "1"
    if "past" in mask:
        mask["past"] = int(mask["past"])
    if "window" in mask:
        window = mask["window"]
        both = (window["before"], window["after"]) if isinstance(window, dict) else [int(window) - 1] * 2
        mask["window"] = tuple(map(int, both))
    for key in {"keep", "hide"} & mask.keys():
        mask[key] = entries(mask[key], KEPT)
    if "add" in mask:
        mask["add"] = entries(mask["add"], dict.fromkeys(HIDDEN, "-inf"))
    return mask


def entries(value, words):
    """A list, a matrix or a list of matrices with some of its words said otherwise."""
    return [entries(each, words) for each in value] if isinstance(value, list) else words.get(value, value)
