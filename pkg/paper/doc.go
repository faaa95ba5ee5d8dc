// Package paper makes the tables and figures of "Mitigating Oversmoothing Through Reverse Process of GNNs for
// Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with our numbers beside the published ones. It also decides for
// each claim of the paper whether our runs reproduce it ([Judge]).
//
// An item is a table or a figure, such as table 2. Each item has a function. This function asks a [View] for the
// outcomes of runs, and makes a [Document] from them: the tables, figures and notes of one page. Each kind of table and
// each figure has a source file of its own. Package experiment plans and makes the runs.
//
// Data files, not code, determine the runs. A profile is a set of settings for all runs. The folder data/settings has
// two profiles: [Quick] is for a laptop, and [Paper] has the published depths, ten splits and up to 1000 epochs. The
// folder data/paper has the published numbers and the claims. Each row of tables 2, 3 and 6 names a model. The model is
// run if it is registered in package models.
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
//   - A gain is the test metric of a model with a reverse process minus that of its plain backbone, on the same split,
//     in percentage points.
//   - The state after a layer is the matrix of node features that this layer computes. GSL is the mean cosine
//     similarity of the rows of a state over all pairs of nodes. A GSL of 1 means over-smoothed.
//   - The head is the classifier that reads the last states of both processes. For some figures it reads the state
//     after one given layer instead.
//   - The iterate of a fixed-point iteration is its current guess.
//   - The board is the grid of a Minesweeper graph. The predictions on a board are probabilities of a mine.
//   - A claim is a statement of the paper, and its check is the rule that decides whether it holds. A check may split a
//     claim into several cases, for example one for each dataset. Each case gets a [Verdict].
//   - A cell of a table is a mean with its standard deviation in one of the paper's tables 2, 3 and 6. For each cell,
//     a claim has a case, which states that the model reaches this mean.
//   - Class-balanced splits have equally many training nodes of each class. Some rows of the paper's tables were
//     published for class-balanced splits, and all other rows for the paper's random splits.
//   - The candidates are the settings to choose from for a model on a dataset. The settings with the best mean
//     validation metric over a few splits are chosen.
package paper
