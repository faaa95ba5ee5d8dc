// Package paper makes the tables and figures of "Mitigating Oversmoothing Through Reverse Process of GNNs for
// Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with our numbers beside the published ones, and decides for each
// claim of the paper whether our runs reproduce it ([Judge]).
//
// The function of an [Item] asks a [View] for the outcomes of runs, and makes the [Document] of one page from them.
// Data, not code, say which runs: data/settings has the profiles ([Quick] for a laptop, [Paper] with the published
// depths), data/paper the published numbers and the claims.
//
// A model's plain backbone is the same model without reverse layers. A gain is its test metric with reverse layers less
// that without, on the same split, in percentage points. A run is a training, an inversion, a benchmark or the
// measuring of a dataset; package runs makes and records it.
package paper
