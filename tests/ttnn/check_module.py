"""check_module.py MODULE.py N,C,H,W [OUT...]: does an emitted module hold?

It compiles, every name and keyword is the API's (stub.py), it runs from the shape of its
input to those of its outputs, and what it leaves on the device is those and nothing else.
"""

import importlib.util
import inspect
import py_compile
import sys
from pathlib import Path

import stub


def shape_of(text):
    return tuple(int(n) for n in text.split(","))


def main(path, shape, outs):
    py_compile.compile(path, doraise=True)
    import stub_builder

    stub.install(stub_builder)
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    device = stub.Device()
    if hasattr(module, "create_pipeline"):
        model = module.create_pipeline(device)
    else:
        names = [c for n, c in inspect.getmembers(module, inspect.isclass)
                 if c.__module__ == "emitted" and n != "TtConvTranspose2d"]
        model = names[0](device, stub.load_file(str(module.WEIGHTS)))
    given = module.preprocess(stub.Tensor(shape, host=True))
    image = stub.Tensor(given.shape, given.dtype, given.layout)
    results = model(image)
    results = results if isinstance(results, list) else [results]
    stub.check(len(results) == len(outs), f"{len(results)} results")
    for i, (result, want) in enumerate(zip(results, outs)):
        post = getattr(module, "postprocess" if len(outs) == 1 else f"postprocess_{i}")
        got = post(result.use()).shape
        stub.check(got == want, f"result {i} is {got}, not {want}")
    left = [t.shape for t in stub.live if t not in results]
    stub.check(not left, f"left on the device: {left}")
    print(f"{Path(path).name}: {len(results)} results, nothing left on the device")


if __name__ == "__main__":
    try:
        main(sys.argv[1], shape_of(sys.argv[2]), [shape_of(a) for a in sys.argv[3:]])
    except (stub.Wrong, TypeError, AttributeError, NameError, SyntaxError, KeyError) as e:
        sys.exit(f"{sys.argv[1]}: {type(e).__name__}: {e}")
