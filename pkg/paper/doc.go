// Package paper shows the tables and figures of "Mitigating Oversmoothing Through Reverse Process of GNNs for
// Heterophilic Graphs" (Park, Heo and Kim, ICML 2024) with our numbers beside the published ones. It also gives each
// claim of the paper a verdict ([Judge]).
//
// An item, such as table 2, is a function that asks a [View] for the runs that it shows, and makes a [Document] from
// their outcomes. Each kind of table and each figure has a source file of its own. Package experiment plans and makes
// the runs. Data files, not code, determine the runs: data/settings has the settings of two profiles, [Quick], for a
// laptop, and [Paper], with the published depths, ten splits and up to 1000 epochs. data/paper has the published
// numbers. A row of the paper's tables names a model; if a model with this name is registered, it is run for this row.
package paper
