"""check_api.py TT_METAL: the names of stub.py and stub_builder.py are those of that tree.

TT-CNN's classes are compared field by field, functions of ttnn by the arguments their
bindings name.
"""

import ast
import dataclasses
import inspect
import re
import sys
from pathlib import Path

import stub
import stub_builder

# Where a function is bound, and which of the bindings of the file it is.
BOUND = {
    "conv_transpose2d": "conv/conv_transpose2d/conv_transpose2d_nanobind.cpp",
    "max_pool2d": "pool/generic/generic_pools_nanobind.cpp",
    "avg_pool2d": "pool/generic/generic_pools_nanobind.cpp",
    "concat": "data_movement/concat/concat_nanobind.cpp",
    "Conv2dConfig": "conv/conv2d/conv2d_nanobind.cpp",
    "Op2DSliceConfig": "sliding_window/sliding_window_nanobind.cpp",
    "convert_to_hwc": "experimental/cnn/convert_to_hwc/convert_to_hwc_nanobind.cpp",
    "convert_to_chw": "experimental/cnn/convert_to_chw/convert_to_chw_nanobind.cpp",
}


def fields_of(tree, name):
    """Fields of a dataclass of a parsed file, those of its bases first."""
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    fields = []
    for base in node.bases:
        if isinstance(base, ast.Name):
            fields += fields_of(tree, base.id)
    return fields + [n.target.id for n in node.body if isinstance(n, ast.AnnAssign)]


def main(home):
    wrong, seen = [], 0
    trees = [ast.parse((home / "models/tt_cnn/tt" / f).read_text()) for f in ("builder.py", "pipeline.py")]
    for name, kind in inspect.getmembers(stub_builder, inspect.isclass):
        if kind.__module__ != "stub_builder" or not dataclasses.is_dataclass(kind):
            continue
        tree = next(t for t in trees if any(getattr(n, "name", "") == name for n in t.body))
        ours, real = [f.name for f in dataclasses.fields(kind)], fields_of(tree, name)
        seen += len(ours)
        if ours != real:
            wrong.append(f"{name}: {ours} here, {real} there")
    for name, path in BOUND.items():
        text = (home / "ttnn/cpp/ttnn/operations" / path).read_text()
        start = re.search(rf'bind_function<"{name}"|nb::class_<{name}>', text)
        part = text[start.end():]
        stop = re.search(r"bind_function<|nb::class_<", part)
        real = set(re.findall(r'nb::arg\("(\w+)"\)', part[: stop.start()] if stop else part))
        ours = set(inspect.signature(getattr(stub, name)).parameters) - {"self"}
        seen += len(ours)
        if not ours <= real:
            wrong.append(f"{name}: there is no {sorted(ours - real)}")
    print("\n".join(wrong) or f"{seen} names are those of {home.name}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
