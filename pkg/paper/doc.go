// Package paper makes the tables and figures of "Mitigating Oversmoothing Through Reverse Process of GNNs for
// Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with our numbers beside the published ones. It also decides for
// each claim of the paper whether our runs reproduce it ([Judge]).
//
// An item is a table or a figure, such as table 2. For each item, a function asks a [View] for the outcomes of runs,
// and makes a [Document] from them: tables, figures and notes, which are shown on one page. Each kind of table and each
// figure has a source file of its own. Package experiment plans and makes the runs.
//
// Data files, not code, determine the runs. data/settings has the settings of two profiles: [Quick] is for a laptop,
// and [Paper] has the published depths, ten splits and up to 1000 epochs. data/paper has the published numbers and the
// claims. Each row of the paper's tables names a model; if a model with this name is registered in package models, it
// is run for this row.
//
// Terms used in this package:
//   - The paper is the one named above. Numbers from the runs of revgnn are called ours, and the published numbers are
//     called theirs or the paper's.
//   - A run is a training, an inversion (layers are computed forwards and then backwards), a benchmark, or a
//     measurement of a dataset. A task describes a run. A record holds the settings and the outcome of a run that was
//     made.
//   - The forward process of a model is its forward layers, and the reverse process is its reverse layers.
//   - The plain backbone of a model with a reverse process, such as GCN+ReP, is the same model without reverse layers,
//     here GCN.
//   - A gain is the test metric of a model with a reverse process less that of its plain backbone, on the same split,
//     in percentage points.
//   - The state after a layer is the matrix of node features that this layer computes. GSL is the mean cosine
//     similarity of the rows of a state over all pairs of nodes: 1 means over-smoothed.
//   - The head is the classifier that reads the last states of both processes. For some figures it reads the state
//     after another layer.
//   - The iterate of a fixed-point iteration is its current guess.
//   - The board is the grid of a Minesweeper graph.
//   - A claim is a statement of the paper, and its check is the rule that decides whether it holds. A check may split a
//     claim into several cases, for example one for each dataset. Each case gets a [Verdict].
//   - A cell is a mean with its standard deviation in one of the paper's tables 2, 3 and 6. That our runs reach this
//     result is a case of a claim.
//   - The candidates are the settings to choose from for a model on a dataset. They are compared by their validation
//     metric on the first splits.
package paper
