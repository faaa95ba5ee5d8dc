"""Times training steps of the authors' code, in a checkout of ml-postech/reverse-gnn.

    python bench/authors.py --checkout DIR --graph G.npz --weights W.npz --model gcn+rep --forward 8 --reverse 8 --steps 3

Needs torch, torch_geometric, torchdiffeq, scikit-learn, seaborn, scipy, tqdm and networkx; of torch_scatter and torch_sparse only what the
code calls, which is replaced below. Prints the same JSON document as peer.py. --memory bounds the process's memory in
bytes, so that a case that does not fit fails by itself and not by taking the machine's.
"""
import argparse
import json
import os
import resource
import sys
import time
import types

import numpy as np


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkout", "graph", "weights", "model"):
        p.add_argument("--" + name, required=True)
    for name, default in (("forward", 8), ("reverse", 8), ("hidden", 64), ("heads", 1), ("max-iterations", 8), ("attention-dim", 16), ("steps", 3), ("memory", 0)):
        p.add_argument("--" + name, type=int, default=default)
    for name, default in (("tolerance", 1e-5), ("lipschitz", 0.999), ("lr", 0.005), ("time", 3.0), ("reverse-time", 1.0), ("step", 0.5)):
        p.add_argument("--" + name, type=float, default=default)
    p.add_argument("--solver", default="rk4")
    return p.parse_args()


def bounded(memory):
    if memory > 0 and sys.platform != "darwin":  # RLIMIT_DATA counts anonymous memory on Linux alone
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def stand_ins():
    """The functions of torch_scatter and torch_sparse that the authors' code calls."""
    import torch
    from torch_geometric.utils import scatter

    def unused(*_, **__):
        raise NotImplementedError

    def scatter_add(src, index, dim=0, dim_size=None):
        return scatter(src, index, dim=dim, dim_size=dim_size, reduce="sum")

    def spmm(index, value, m, _, x):
        row, column = index
        return torch.zeros(m, x.shape[1], dtype=x.dtype, device=x.device).index_add(0, row, value.unsqueeze(1) * x[column])

    for name, functions in (("torch_scatter", {"scatter": scatter, "scatter_add": scatter_add, "segment_csr": unused, "gather_csr": unused}), ("torch_sparse", {"spmm": spmm})):
        module = types.ModuleType(name)
        module.__dict__.update(functions)
        sys.modules[name] = module


def old_gat():
    """The authors' hook expects the attribute of an older PyTorch Geometric."""
    from torch_geometric.nn import GATConv

    init = GATConv.__init__

    def renamed(self, *a, **k):
        init(self, *a, **k)
        if getattr(self, "lin_src", None) is None:
            self.lin_src = self.lin

    GATConv.__init__ = renamed


def build(o):
    """The authors' model, its features, edges, labels and training mask, and whether it takes the edges as an argument."""
    import torch

    import heterodata_loader

    # The loader joins a folder, the dataset's name with underscores for dashes, and ".npz".
    heterodata_loader.DATAPATH = os.path.dirname(os.path.abspath(o.graph)) + "/"
    name = os.path.basename(o.graph).removesuffix(".npz")
    device = torch.device("cpu")
    common = dict(dataset=name, hidden_dim=o.hidden, heads=o.heads)
    if o.model == "grand+rep":
        from model_grand_rep import GRANDRep

        a = argparse.Namespace(**common, time=o.time, inv_time=o.reverse_time, method=o.solver, step_size=o.step, tol_scale=1000.0, max_nfe=5000,
                               no_alpha_sigmoid=False, attention_dim=o.attention_dim, attention_type="scaled_dot", reweight_attention=False,
                               square_plus=False, attention_norm_idx=0, self_loop_weight=1.0)
        loaded = heterodata_loader.Hetero(a, device)
        return GRANDRep(a, loaded, device), loaded
    from model_resgnn_rep import iresgnn

    # plot_ms is compared with nothing: any text gives the single linear head of the authors' runs.
    a = argparse.Namespace(**common, net="ires" + o.model.removesuffix("+rep"), depth=o.forward, inv_depth=o.reverse, no_in_mlp=False, no_out_mlp=False,
                           indp_block=1, dropout=0.0, otptnorm="None", coeff=o.lipschitz, maxiter=o.max_iterations,
                           converge_threshold=o.tolerance, plot_ms="None")
    loaded = heterodata_loader.Hetero(a, device)
    return iresgnn(a, loaded, device), loaded


def load(model, path):
    import torch

    z = np.load(path)
    given = {k.removeprefix("param."): z[k] for k in z.files}
    with torch.no_grad():
        for name, p in model.named_parameters():
            # A layer that has two names is listed by one of them.
            value = given.get(name, given.get(name.replace("lin_src", "lin")))
            if value is not None:
                p.copy_(torch.from_numpy(value).reshape(p.shape))
            elif "Wout" not in name:  # nothing reads Wout
                raise SystemExit(f"{path} has no {name}")


def main():
    o = arguments()
    bounded(o.memory)
    sys.path.insert(0, os.path.join(o.checkout, "src"))
    import torch
    import torch.nn.functional as F

    stand_ins()
    old_gat()
    out, sys.stdout = sys.stdout, sys.stderr  # the authors' code prints
    model, loaded = build(o)
    load(model, o.weights)
    data = loaded.data
    data.to_device()
    optimiser = torch.optim.Adam(model.parameters(), lr=o.lr)
    inputs = (data.x,) if o.model == "grand+rep" else (data.x, data.edge_index)
    train, labels = data.train_mask, data.y
    seconds, losses = [], []
    for _ in range(o.steps):
        start = time.perf_counter()
        model.train()
        if o.model == "grand+rep":
            model.resetNFE()
        optimiser.zero_grad()
        logits = model(*inputs)[train]
        if loaded.num_classes == 2:
            loss = F.binary_cross_entropy_with_logits(logits, labels[train].float())
        else:
            loss = F.cross_entropy(logits, labels[train])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    json.dump({"seconds": seconds, "losses": losses, "peak_rss_bytes": peak, "threads": torch.get_num_threads(),
               "versions": {"torch": torch.__version__, "numpy": np.__version__}}, out)


if __name__ == "__main__":
    main()
