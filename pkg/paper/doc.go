// Package paper is the paper as documents: one file per table and figure of "Mitigating Oversmoothing Through Reverse
// Process of GNNs for Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with its published numbers and its
// rendering; and its claims, each with a verdict ([Judge]).
//
// An item, such as table 2, is a function that asks a [View] for the runs that it shows, and makes a [Document] from
// their outcomes; package experiment plans and makes the runs. What is run is data: data/settings has the settings of
// two profiles, [Quick], for a laptop, and [Paper], with the published depths, ten splits and up to 1000 epochs.
// data/paper has the published numbers. Rows of the paper's tables are matched with registered models by name: a row
// whose model is registered gets runs.
package paper
