// Command bench compares the time and memory that revgnn and other programs need for training steps. The programs run
// on the same machine, one after the other. The other programs are:
//
//   - the peer, a script that trains the same model in PyTorch: bench/peer.py is GCN+ReP, written by hand as an expert
//     would write it, and bench/pyg.py has baselines that consist of PyTorch Geometric's layers;
//   - the code of the paper's authors, if a checkout of it is given (bench/authors.py runs it).
//
// Examples:
//
//	go run ./bench                                # the default cases, with revgnn and the peer
//	go run ./bench --authors ~/reverse-gnn        # the same, and the authors' code
//	go run ./bench --cases pyg                    # the baselines
//	go run ./bench --cases gcn-minesweeper --rounds 5
//
// A case is a model of a given size on a graph. The file data/bench/cases.json lists the cases. In a case, all programs
// have the same graph, split, depth, width, tolerances, loss, optimiser and initial weights. In each round, every
// program runs once, in a process of its own. So changes in the speed of the machine affect all programs alike, and
// peak memory is measured for each program separately. A run's time is the median over its steps, without the first
// step. The tables have the medians of these times over all rounds. They also have the ratio of each program's time to
// revgnn's, as the median over all rounds. PyTorch Geometric can read a graph in several layouts (data structures).
// Short trials before the first round find the layout in which it is fastest. The tables also have the largest relative
// difference between revgnn's losses and another program's losses in the same step. If it is small, both compute the
// same.
//
// After every case, Command bench writes files to the output folder: bench.json (all runs, the machine and versions of
// programs), bench.md (tables) and bench.svg (a figure of the ratios).
package main
