// Command bench times training steps of revgnn and, side by side in the same run, of others: the peer, as an expert
// would write it in PyTorch, GCN+ReP by hand (bench/peer.py) and the baselines with PyTorch Geometric's layers
// (bench/pyg.py); and the authors' own code, where a checkout is given (bench/authors.py).
//
//	go run ./bench                                # the default cases, revgnn and the peer
//	go run ./bench --authors ~/reverse-gnn        # and the authors' code
//	go run ./bench --cases pyg                    # the baselines
//	go run ./bench --cases gcn-minesweeper --rounds 5
//	go run ./bench --roofline --case gcn-tolokers-1-8-128
//	go run ./bench --roofline --dataset random:5000 --reverse 64 --hidden 256
//
// The cases are data, in data/bench/cases.json. Every case is the same for all: graph, split, depth, width,
// thresholds, loss, optimiser and initial weights, which the harness writes once. In every round they run one after
// the other, each in a process of its own, so that drifts of the machine meet all alike and peak memory is that of one
// program. Tables give medians over the rounds of the median step, without the first, and the medians of the rounds'
// ratios. PyTorch Geometric takes a graph in several layouts: that in which it is fastest is found by a trial before
// the first round. That all compute the same is shown by their losses, step by step.
//
// Written to the output folder, after every case: bench.json (all runs, the machine, versions), bench.md, and figures.
package main
