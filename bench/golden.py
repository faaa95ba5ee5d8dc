"""Golden values for the tests of pkg/models: logits and gradients of models made of PyTorch Geometric's layers.

    python bench/golden.py pkg/models/testdata/golden

Writes a file per case: a random graph of 40 nodes with a hub and a node without neighbours, features, labels, training
mask, random weights by revgnn's names, and what the model makes of them: logits, the mean cross-entropy over the
training nodes and its gradient by every weight. Weights and features are single precision, the computation is in
double. Equal versions write equal files.
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric

from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv

import pyg
from pyg import given

NODES, HUB, ALONE, CLASSES = 40, 7, 23, 3

# The models whose features are bags of words.
SPARSE = {"vanilla-gcn", "vanilla-gat", "appnp", "chebnet"}

# Settings by their names in JSON; those that pyg.py does not have at the only value that they may have.
OFF = {"dropout": 0}
RESIDUAL = OFF | {"norm": "none", "no_bias": False, "head_layers": 2}
REVERSE = RESIDUAL | {"head_layers": 1, "activation": "relu", "normalise": "project", "tolerance": 1e-7, "max_iterations": 100,
                      "adjoint": "implicit"}
CASES = {
    "gcn": ("gcn", RESIDUAL | {"forward": 2, "hidden": 6}),
    "gat": ("gat", RESIDUAL | {"forward": 2, "hidden": 6, "heads": 2}),
    "sage-res": ("sage-res", RESIDUAL | {"forward": 2, "hidden": 6}),
    "sage+rep": ("sage+rep", REVERSE | {"forward": 2, "reverse": 3, "hidden": 6, "lipschitz": 0.9, "bound": "spectral"}),
    "sage": ("sage", OFF | {"forward": 2, "hidden": 6, "hidden_dim_multiplier": 2}),
    "gt-sep": ("gt-sep", OFF | {"forward": 2, "hidden": 6, "heads": 2, "hidden_dim_multiplier": 2}),
    "gpr-gnn": ("gpr-gnn", OFF | {"hidden": 6, "dprate": 0, "order": 4, "alpha": 0.1}),
    "fagcn": ("fagcn", OFF | {"forward": 2, "hidden": 6, "eps": 0.3}),
    "vanilla-gcn": ("vanilla-gcn", OFF | {"hidden": 6}),
    "vanilla-gat": ("vanilla-gat", OFF | {"hidden": 12, "heads": 3, "attention_dropout": 0}),
    "appnp": ("appnp", OFF | {"hidden": 6, "order": 5, "alpha": 0.2}),
    "chebnet": ("chebnet", OFF | {"hidden": 6, "order": 3}),
}


# The models that are not timed, as functions like those of pyg.py.


def two(first, second, activation):
    """Two layers, as in the citation networks' experiments."""
    return lambda x: second(activation(first(x)))


def vanilla_gcn(p, g, inputs, outputs, *, hidden, dropout):
    """softmax(A ReLU(A X W + b) W + b), Kipf and Welling 2017."""
    def layer(name, i, o):
        conv = given(GCNConv(i, o), lin__weight=p(name + ".lin.weight", o, i), bias=p(name + ".bias", o))
        return lambda x: conv(x, g.edges)

    return two(layer("conv1", inputs, hidden), layer("conv2", hidden, outputs), torch.relu)


def vanilla_gat(p, g, inputs, outputs, *, hidden, heads, dropout, attention_dropout):
    """Heads side by side, then one head, Velickovic et al. 2018."""
    def layer(name, i, o, k):
        conv = given(GATConv(i, o, k), lin__weight=p(name + ".lin.weight", k * o, i), bias=p(name + ".bias", k * o),
                     att_src=p(name + ".att_src", 1, k, o), att_dst=p(name + ".att_dst", 1, k, o))
        return lambda x: conv(x, g.edges)

    return two(layer("conv1", inputs, hidden // heads, heads), layer("conv2", hidden, outputs, 1), F.elu)


def appnp(p, g, inputs, outputs, *, hidden, dropout, order, alpha):
    """Personalised PageRank of predictions, Gasteiger et al. 2019."""
    first, second, propagate = p.linear("lin1", inputs, hidden), p.linear("lin2", hidden, outputs), APPNP(order, alpha)
    return lambda x: propagate(second(torch.relu(first(x))), g.edges)


def chebnet(p, g, inputs, outputs, *, hidden, dropout, order):
    """Chebyshev polynomials of L - I, Defferrard et al. 2016; L's largest eigenvalue is taken to be 2."""
    def layer(name, i, o):
        weights = {f"lins__{k}__weight": p(f"{name}.lins.{k}.weight", o, i) for k in range(order + 1)}
        conv = given(ChebConv(i, o, order + 1), bias=p(name + ".bias", o), **weights)
        return lambda x: conv(x, g.edges, lambda_max=torch.tensor(2.0))

    return two(layer("conv1", inputs, hidden), layer("conv2", hidden, outputs), torch.relu)


pyg.MODELS.update({"vanilla-gcn": vanilla_gcn, "vanilla-gat": vanilla_gat, "appnp": appnp, "chebnet": chebnet})


def random_graph(rng):
    """Edges, one direction of each: a random graph with a hub and a node without neighbours."""
    pairs = [(a, b) for a in range(NODES) for b in range(a + 1, NODES)]
    chosen = [e for e in pairs if rng.random() < (0.6 if HUB in e else 0.06) and ALONE not in e]
    return np.array(chosen, np.int64)


def random_weights(rng, contracting):
    """Makes weights: matrices as large as they usually start, or so much smaller that layers contract; vectors about the ones or
    zeros they start from."""

    def make(name, shape):
        w = rng.standard_normal(shape)
        if len(shape) > 1:
            w /= np.sqrt(shape[-1])
            if name.startswith("stack.") and contracting:
                w *= 0.2
        else:
            w = 0.4 * w + (1 if "norm" in name and name.endswith("weight") else 0)
        return torch.from_numpy(w.astype(np.float32).astype(np.float64))

    return make


def features(rng, sparse):
    if sparse:
        return (np.arange(24) == rng.integers(24, size=(NODES, 1))).astype(np.float32)
    return rng.standard_normal((NODES, 5)).astype(np.float32)


def short(values):
    """Numbers with as many digits as tell single-precision numbers apart."""
    return [float(f"{v:.9g}") for v in np.asarray(values, np.float64).ravel()]


def golden(name, model, settings):
    rng = np.random.default_rng(sum(name.encode()))
    edges, x = random_graph(rng), features(rng, model in SPARSE)
    y, train = rng.integers(CLASSES, size=NODES), rng.random(NODES) < 0.6
    given = torch.from_numpy(x.astype(np.float64)), torch.from_numpy(y), torch.from_numpy(train)
    p = pyg.Parameters(random_weights(rng, "reverse" in settings))
    logits, loss, gradients = evaluate(p, edges, model, settings, *given)
    for layout in pyg.LAYOUTS[1:]:  # of no effect where a model takes edges alone
        for a, b in zip(evaluate(p, edges, model, settings, *given, layout)[2].values(), gradients.values()):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-12), f"{name}: another gradient with {layout}"
    versions = {"torch": torch.__version__, "torch_geometric": torch_geometric.__version__}
    return {"model": model, "settings": settings, "versions": versions,
            "edges": edges.tolist(), "features": [short(row) for row in x],
            "labels": y.tolist(), "train": train.tolist(),
            "weights": {k: {"shape": list(v.shape), "values": short(v.detach())} for k, v in p.items()},
            "loss": loss, "logits": [short(row) for row in logits],
            "gradients": {k: short(v) for k, v in gradients.items()}}


def evaluate(p, edges, model, settings, x, y, train, layout="edges"):
    run = pyg.build(model, p, pyg.Graph(edges, NODES, layout), x.shape[1], CLASSES, settings)
    for w in p.values():
        w.grad = None
    logits = run(x)
    loss = pyg.loss_of(logits[train], y[train])
    loss.backward()
    return logits.detach().numpy(), loss.item(), {k: v.grad.numpy() for k, v in p.items()}


def write(path, document):
    """Writes JSON, a line for each part and each row."""
    def rows(v):
        if isinstance(v, dict) and v and all(isinstance(w, (dict, list)) for w in v.values()):
            return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(w)}" for k, w in v.items()) + "\n}"
        return json.dumps(v)

    with open(path, "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {rows(v)}" for k, v in document.items()) + "\n}\n")


def main():
    torch.set_default_dtype(torch.float64)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, (model, settings) in CASES.items():
        write(os.path.join(sys.argv[1], name + ".json"), golden(name, model, settings))


if __name__ == "__main__":
    main()
