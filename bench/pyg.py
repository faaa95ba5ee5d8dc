"""The baselines' peer: the same models out of PyTorch Geometric's layers.

    python bench/pyg.py --model sage --graph G.npz --weights W.npz --layout edges --steps 10 --forward 5 --hidden 64

The settings of a model are arguments of its function below; all parameters are those of W.npz, param.<name> by
revgnn's names. What does not change is computed once: self loops, the normalisation. A layer is given the graph in one of three
layouts, of which the harness takes the fastest: "edges", pairs sorted by their targets; "csr", a sparse tensor;
"EdgeIndex", PyTorch Geometric's own class, which knows that edges are sorted and keeps the transposed matrix for the
gradient of a product.

G.npz has the keys of Platonov et al. Trains by Adam on the first split's training nodes, without dropout, on all
cores or on a GPU, and prints one JSON document: seconds of every step (the first is the warm-up), losses, threads and versions.
"""
import argparse
import inspect
import json
import os
import sys
from time import perf_counter

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from torch_geometric import EdgeIndex
from torch_geometric.nn import FAConv, GATConv, GCNConv, SimpleConv, TransformerConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import (add_self_loops, coalesce, degree, remove_self_loops, to_torch_csr_tensor,
                                   to_undirected)

LAYOUTS = ("edges", "csr", "EdgeIndex")


class Graph:
    """An undirected graph, and what layers take behind the nodes' features."""

    def __init__(self, edges, nodes, layout="edges"):
        edges = remove_self_loops(torch.tensor(np.ascontiguousarray(edges, dtype=np.int64).T))[0]
        self.nodes, self.layout = nodes, layout
        self.edges = coalesce(to_undirected(edges, num_nodes=nodes), sort_by_row=False)
        self.looped = coalesce(add_self_loops(self.edges, num_nodes=nodes)[0], sort_by_row=False)

    def symmetric(self, edges):
        """The weights of D^-1/2 A D^-1/2."""
        return gcn_norm(edges, None, self.nodes, add_self_loops=False, dtype=torch.get_default_dtype())[1]

    def mean(self, edges):
        """The weights of D^-1 A."""
        return 1 / degree(edges[1], self.nodes, dtype=torch.get_default_dtype())[edges[1]]

    def messages(self, edges, weight=None):
        """For a layer whose messages are not a product with a constant matrix."""
        if self.layout == "csr":
            return (to_torch_csr_tensor(edges.flip(0), weight, size=(self.nodes, self.nodes)),)
        if self.layout == "EdgeIndex":
            edges = EdgeIndex(edges, sparse_size=(self.nodes, self.nodes), sort_order="col").fill_cache_()
        return (edges,) if weight is None else (edges, weight)

    def product(self, layer, edges, weight):
        """For a layer whose messages are a product: few layers know that of an EdgeIndex, so that this one is told."""
        out = self.messages(edges, weight)
        if self.layout == "EdgeIndex":
            layer.propagate = lambda matrix, x, edge_weight, size=None: matrix.matmul(
                x[0] if isinstance(x, tuple) else x, edge_weight, transpose=True)
        return out


class Parameters(dict):
    """The parameters by revgnn's names, which make(name, shape) makes where they are first asked for."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __call__(self, name, *shape):
        if name not in self:
            self[name] = torch.nn.Parameter(self.make(name, shape))
        return self[name]

    def linear(self, name, inputs, outputs):
        w, b = self(name + ".weight", outputs, inputs), self(name + ".bias", outputs)
        return lambda x: F.linear(x, w, b)

    def layer_norm(self, name, width):
        w, b = self(name + ".weight", width), self(name + ".bias", width)
        return lambda x: F.layer_norm(x, (width,), w, b)


def given(layer, **parameters):
    """The layer with these parameters; a double underscore stands for a dot."""
    for name, value in parameters.items():
        owner, _, leaf = name.replace("__", ".").rpartition(".")
        setattr(layer.get_submodule(owner), leaf, value)
    return layer


# The models. Each is a function of parameters, graph, numbers of features and outputs, and settings, and returns the
# function from features to logits.


def residual(conv, p, inputs, outputs, hidden, forward, dropout, norm, no_bias, head_layers, activation="relu", ego=False,
             norm_layers="none", norm_scale=1, drop_edge=0, half_hop=0, half_hop_alpha=0.5, block_gate=False, block_norm="none",
             block_scale=1):
    """X + ReLU(conv(X)), one layer's parameters for all."""
    encode, n = p.linear("in_", inputs, hidden), head_layers or 2
    head = [p.linear(f"out.{2 * i}" if n > 1 else "out", hidden, hidden if i < n - 1 else outputs) for i in range(n)]

    def run(x):
        x = torch.relu(encode(x))
        for _ in range(forward):
            x = x + torch.relu(conv(x))
        for layer in head[:-1]:
            x = torch.relu(layer(x))
        return head[-1](x)

    return run


def gcn(p, g, inputs, outputs, *, hidden, **settings):
    body = "stack.0.body."
    layer = given(GCNConv(hidden, hidden, normalize=False),
                  lin__weight=p(body + "lin.weight", hidden, hidden), bias=p(body + "bias", hidden))
    adjacency = g.product(layer, g.looped, g.symmetric(g.looped))
    return residual(lambda x: layer(x, *adjacency), p, inputs, outputs, hidden, **settings)


def gat(p, g, inputs, outputs, *, hidden, heads, **settings):
    body = "stack.0.body."
    layer = given(GATConv(hidden, hidden, heads, concat=False, add_self_loops=False),
                  lin__weight=p(body + "lin.weight", heads * hidden, hidden), bias=p(body + "bias", hidden),
                  att_src=p(body + "att_src", 1, heads, hidden), att_dst=p(body + "att_dst", 1, heads, hidden))
    adjacency = g.messages(g.looped)
    return residual(lambda x: layer(x, *adjacency), p, inputs, outputs, hidden, **settings)


def ego(p, g, hidden):
    """conv(X) = Â X W + X V + b."""
    body = "stack.0.body."
    layer = given(GCNConv(hidden, hidden, normalize=False),
                  lin__weight=p(body + "lin.weight", hidden, hidden), bias=p(body + "bias", hidden))
    v, adjacency = p(body + "ego.weight", hidden, hidden), g.product(layer, g.looped, g.symmetric(g.looped))
    return lambda x: layer(x, *adjacency) + x @ v.T


def sage_residual(p, g, inputs, outputs, *, hidden, **settings):
    return residual(ego(p, g, hidden), p, inputs, outputs, hidden, **settings)


def sage_reverse(p, g, inputs, outputs, *, hidden, forward, reverse, tolerance, max_iterations, lipschitz, bound, normalise,
                 adjoint, dropout, norm, no_bias, head_layers, activation):
    """X + ReLU(conv(X)) and its inverse, side by side. The inverse is iterated, and so is its gradient; weights are within their bound."""
    conv, encode, head = ego(p, g, hidden), p.linear("in_", inputs, hidden), p.linear("out", 2 * hidden, outputs)

    def run(x):
        there = back = torch.relu(encode(x))
        for _ in range(forward):
            there = there + torch.relu(conv(there))
        for _ in range(reverse):
            y = back
            for _ in range(max_iterations):
                back = y - torch.relu(conv(back))
        return head(torch.cat([there, back], 1))

    return run


def normalised(p, inputs, outputs, hidden, modules):
    """X + module(LayerNorm(X)), as Platonov et al."""
    norms = [p.layer_norm(f"residual_modules.{i}.normalization", hidden) for i in range(len(modules))]
    encode, last = p.linear("input_linear", inputs, hidden), p.layer_norm("output_normalization", hidden)
    head = p.linear("output_linear", hidden, outputs)

    def run(x):
        x = F.gelu(encode(x))
        for norm, module in zip(norms, modules):
            x = x + module(norm(x))
        return head(last(x))

    return run


def feed_forward(p, name, inputs, hidden, multiplier):
    inner = multiplier * hidden
    first, second = p.linear(name + "linear_1", inputs, inner), p.linear(name + "linear_2", inner, hidden)
    return lambda x: second(F.gelu(first(x)))


def sage(p, g, inputs, outputs, *, forward, hidden, dropout, hidden_dim_multiplier):
    both = SimpleConv("sum", combine_root="cat")  # [Z, D^-1 A Z]
    mean = g.product(both, g.edges, g.mean(g.edges))

    def module(i):
        name = f"residual_modules.{i}.module.feed_forward_module."
        ffn = feed_forward(p, name, 2 * hidden, hidden, hidden_dim_multiplier)
        return lambda x: ffn(both(x, *mean))

    return normalised(p, inputs, outputs, hidden, [module(i) for i in range(forward)])


def gt_sep(p, g, inputs, outputs, *, forward, hidden, heads, dropout, hidden_dim_multiplier):
    adjacency = g.messages(g.edges)

    def attention(name):
        layer = TransformerConv(hidden, hidden // heads, heads, root_weight=False)
        for theirs, ours in (("query", "key"), ("key", "query"), ("value", "value")):
            given(layer, **{f"lin_{theirs}__weight": p(f"{name}attn_{ours}.weight", hidden, hidden),
                            f"lin_{theirs}__bias": p(f"{name}attn_{ours}.bias", hidden)})
        out = p.linear(name + "output_linear", 2 * hidden, hidden)
        return lambda x: out(torch.cat([x, layer(x, *adjacency)], 1))

    modules = []
    for i in range(forward):
        modules.append(attention(f"residual_modules.{2 * i}.module."))
        modules.append(feed_forward(p, f"residual_modules.{2 * i + 1}.module.", hidden, hidden, hidden_dim_multiplier))
    return normalised(p, inputs, outputs, hidden, modules)


def gpr_gnn(p, g, inputs, outputs, *, hidden, dropout, dprate, order, alpha):
    first, second = p.linear("lin1", inputs, hidden), p.linear("lin2", hidden, outputs)
    temp = p("prop1.temp", order + 1)
    step = SimpleConv("sum")
    adjacency = g.product(step, g.looped, g.symmetric(g.looped))

    def run(x):
        x = second(torch.relu(first(x)))
        out = temp[0] * x
        for k in range(order):
            x = step(x, *adjacency)
            out = out + temp[k + 1] * x
        return out

    return run


def fagcn(p, g, inputs, outputs, *, forward, hidden, dropout, eps):
    first, last = p.linear("t1", inputs, hidden), p.linear("t2", hidden, outputs)
    adjacency = g.messages(g.edges, g.symmetric(g.edges))

    def convolution(i):
        return given(FAConv(hidden, eps, add_self_loops=False, normalize=False),
                     att_l__weight=p(f"layers.{i}.att_l.weight", 1, hidden),
                     att_r__weight=p(f"layers.{i}.att_r.weight", 1, hidden))

    layers = [convolution(i) for i in range(forward)]

    def run(x):
        x = start = torch.relu(first(x))
        for layer in layers:
            x = layer(x, start, *adjacency)
        return last(x)

    return run


MODELS = {"sage-res": sage_residual, "sage+rep": sage_reverse, "gcn": gcn, "gat": gat, "sage": sage, "gt-sep": gt_sep, "gpr-gnn": gpr_gnn, "fagcn": fagcn}


def loss_of(logits, labels):
    """The mean cross-entropy; one logit is that of the second of two classes."""
    if logits.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(logits.squeeze(1), labels.to(logits.dtype))
    return F.cross_entropy(logits, labels)


# Settings that these models do not have, at the only value they may have.
ABSENT = {"dropout": 0, "dprate": 0, "attention_dropout": 0, "norm": "none", "no_bias": False, "activation": "relu", "ego": False,
          "norm_layers": "none", "drop_edge": 0, "half_hop": 0, "block_gate": False, "block_norm": "none"}


def build(model, p, g, inputs, outputs, settings):
    """The model of a name, with settings by their names in JSON."""
    for name, value in ABSENT.items():
        if settings.get(name, value) != value:
            raise SystemExit(f"{name} is {settings[name]}: here it must be {value}")
    try:
        inspect.signature(MODELS[model]).bind(p, g, inputs, outputs, **settings)
    except TypeError as e:
        raise SystemExit(f"{model}: {e}") from None
    return MODELS[model](p, g, inputs, outputs, **settings)


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                allow_abbrev=False)
    p.add_argument("--model", required=True, choices=MODELS)
    p.add_argument("--graph", required=True)
    p.add_argument("--weights", required=True)
    p.add_argument("--layout", default="edges", choices=LAYOUTS)
    p.add_argument("--lr", type=float, default=0.005)
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--device", default="cpu", help="cpu or cuda")
    o, others = p.parse_known_args()
    settings = {}
    for word in others:
        name, given, value = word.removeprefix("--").partition("=")
        if not given:
            p.error(f"{word} is no setting: write --name=value")
        text = value.isalpha() and value not in ("true", "false")
        settings[name.replace("-", "_")] = value if text else json.loads(value)
    return o, settings


def main():
    o, settings = arguments()
    torch.set_default_device(o.device)
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    z, w = np.load(o.graph), np.load(o.weights)
    x = torch.tensor(z["node_features"].astype(np.float32))
    y = torch.tensor(z["node_labels"].astype(np.int64))
    train, classes = torch.tensor(z["train_masks"][0]), int(y.max()) + 1

    def read(name, shape):
        if w["param." + name].shape != shape:
            raise SystemExit(f"{o.weights}: {name} has the shape {w['param.' + name].shape}, not {shape}")
        return torch.tensor(w["param." + name])

    p = Parameters(read)
    outputs = 1 if classes == 2 else classes
    model = build(o.model, p, Graph(z["edges"], len(y), o.layout), x.shape[1], outputs, settings)
    if unread := {k.removeprefix("param.") for k in w.files} - set(p):
        raise SystemExit(f"{o.weights} has parameters that {o.model} has not: {sorted(unread)}")
    optimiser = torch.optim.Adam(p.values(), lr=o.lr)
    seconds, losses = [], []
    for _ in range(o.steps):
        start = perf_counter()
        optimiser.zero_grad()
        loss = loss_of(model(x)[train], y[train])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        seconds.append(perf_counter() - start)
    versions = {"torch": torch.__version__, "torch_geometric": torch_geometric.__version__, "numpy": np.__version__}
    json.dump({"seconds": seconds, "losses": losses, "engine": "PyTorch Geometric, " + o.layout + ("" if o.device == "cpu" else ", " + o.device),
               "threads": torch.get_num_threads(), "versions": versions}, sys.stdout)


if __name__ == "__main__":
    main()
