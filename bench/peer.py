"""The peer: GCN+ReP in PyTorch, as an expert would write it by hand for a CPU.

    python bench/peer.py --graph G.npz --weights W.npz --forward 1 --reverse 64 --steps 10

Sparse products are CSR (MKL). The gradient of every reverse layer is implicit: z = g(y), y = z + h(z), has the adjoint
l = v - J_h(z)^T l, solved by the same kind of iteration, and the backward pass rewinds the chain by y = z + h(z), so that memory
does not grow with the number of reverse layers. Tolerances mean what they mean in revgnn: a solve ends when an iterate
changes by less than TOLERANCE on average, times the mean size of the right-hand side where that exceeds 1, and an adjoint solve when the
same falls below 10 TOLERANCE relative to its right-hand side.

G.npz has the keys of Platonov et al.; W.npz holds param.<name> by the names of the authors' PyTorch code. Trains by Adam on the
first split's training nodes and prints one JSON document: seconds of every step (the first is the warm-up), losses, mean
iterations per reverse layer, the largest resident memory in bytes, threads and versions.
"""
import argparse
import json
import resource
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F

ADJOINT_FACTOR = 10  # solve.AdjointFactor of revgnn


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graph", required=True)
    p.add_argument("--weights", required=True)
    p.add_argument("--forward", type=int, required=True)
    p.add_argument("--reverse", type=int, required=True)
    p.add_argument("--max-iterations", type=int, default=8)
    p.add_argument("--tolerance", type=float, default=1e-5)
    p.add_argument("--lipschitz", type=float, default=0.999)
    p.add_argument("--lr", type=float, default=0.005)
    p.add_argument("--steps", type=int, default=10)
    return p.parse_args()


def read_graph(path):
    """The symmetrically normalised adjacency with self loops (Kipf and Welling 2017) in CSR, features, labels, training mask."""
    z = np.load(path)
    n = len(z["node_labels"])
    e = z["edges"].astype(np.int64)
    keys = np.unique(np.concatenate([e[:, 0] * n + e[:, 1], e[:, 1] * n + e[:, 0], np.arange(n) * (n + 1)]))
    row, column = keys // n, keys % n
    degree = np.bincount(row, minlength=n)
    weight = (1 / np.sqrt(degree[row].astype(np.float64) * degree[column])).astype(np.float32)
    start = np.concatenate([[0], np.cumsum(degree)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CSR is announced as a beta feature
        a = torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(column), torch.from_numpy(weight), (n, n), check_invariants=False)
    x = torch.from_numpy(z["node_features"].astype(np.float32))
    y = torch.from_numpy(z["node_labels"].astype(np.int64))
    return a, x, y, torch.from_numpy(z["train_masks"][0])


def read_weights(path):
    z = np.load(path)
    return {k.removeprefix("param."): torch.nn.Parameter(torch.from_numpy(z[k])) for k in z.files}


class Chains:
    """Forward and reverse chains of f(X) = X + ReLU(A X W + b), with their gradients, and counters of iterations."""

    def __init__(self, a, o):
        self.a, self.o, self.solves, self.adjoints = a, o, 0, 0

    def reverse(self, y, w, b):
        o, a = self.o, self.a
        for _ in range(o.reverse):
            z, tolerance = y, o.tolerance * max(1.0, y.abs().mean().item())
            for _ in range(o.max_iterations):
                new = y - torch.relu((a @ z) @ w + b)
                change = (new - z).abs().mean()
                z = new
                self.solves += 1
                if change < tolerance:
                    break
            y = z
        return y

    def reverse_back(self, z, w, b, v):
        o, a = self.o, self.a
        dw, db = torch.zeros_like(w), torch.zeros_like(b)
        for _ in range(o.reverse):
            az = a @ z
            u = az @ w + b
            active = (u > 0).float()
            l, tolerance = v, ADJOINT_FACTOR * o.tolerance * (v.abs().mean() + 1e-30)
            for _ in range(o.max_iterations):
                new = v - (a @ (active * l)) @ w.T
                change = (new - l).abs().mean()
                l = new
                self.adjoints += 1
                if change < tolerance:
                    break
            g = active * l
            dw -= az.T @ g
            db -= g.sum(0)
            z, v = z + torch.relu(u), l
        return v, dw, db

    def forward(self, x, w, b):
        states = [x]
        for _ in range(self.o.forward):
            states.append(states[-1] + torch.relu((self.a @ states[-1]) @ w + b))
        return states

    def forward_back(self, states, w, b, v):
        dw, db = torch.zeros_like(w), torch.zeros_like(b)
        for x in reversed(states[:-1]):
            ax = self.a @ x
            g = ((ax @ w + b) > 0).float() * v
            dw += ax.T @ g
            db += g.sum(0)
            v = v + (self.a @ g) @ w.T
        return v, dw, db


class Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, chains, x, w, b):
        ctx.chains, ctx.states = chains, chains.forward(x, w, b)
        ctx.save_for_backward(w, b)
        return ctx.states[-1]

    @staticmethod
    def backward(ctx, v):
        return (None, *ctx.chains.forward_back(ctx.states, *ctx.saved_tensors, v))


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, chains, x, w, b):
        z = chains.reverse(x, w, b)
        ctx.chains = chains
        ctx.save_for_backward(z, w, b)
        return z

    @staticmethod
    def backward(ctx, v):
        return (None, *ctx.chains.reverse_back(*ctx.saved_tensors, v))


def peak_bytes():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main():
    o = arguments()
    a, x, y, train = read_graph(o.graph)
    p = read_weights(o.weights)
    chains = Chains(a, o)
    optimiser = torch.optim.Adam(p.values(), lr=o.lr)
    binary = p["out.weight"].shape[0] == 1
    seconds, losses = [], []
    for _ in range(o.steps):
        start = time.perf_counter()
        optimiser.zero_grad()
        raw = p["stack.0.body.lin.weight_orig"]
        w = (raw / torch.clamp(raw.norm() / o.lipschitz, min=1.0)).T
        b = p["stack.0.body.bias"]
        h = torch.relu(F.linear(x, p["in_.weight"], p["in_.bias"]))
        both = torch.cat([Forward.apply(chains, h, w, b), Reverse.apply(chains, h, w, b)], 1)
        logits = F.linear(both, p["out.weight"], p["out.bias"])[train]
        if binary:
            loss = F.binary_cross_entropy_with_logits(logits.squeeze(1), y[train].float())
        else:
            loss = F.cross_entropy(logits, y[train])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    layers = max(1, o.reverse * o.steps)
    json.dump({"seconds": seconds, "losses": losses, "iterations": {"solve": chains.solves / layers, "adjoint": chains.adjoints / layers},
               "peak_rss_bytes": peak_bytes(), "threads": torch.get_num_threads(), "versions": {"torch": torch.__version__, "numpy": np.__version__}},
              sys.stdout)


if __name__ == "__main__":
    main()
