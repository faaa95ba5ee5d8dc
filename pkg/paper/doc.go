// Package paper is the paper as documents: one file per table and figure of "Mitigating Oversmoothing Through Reverse
// Process of GNNs for Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with its published numbers and its
// rendering; and its claims, each with a verdict ([Judge]).
//
// An item, such as table 2, is a function that asks a [View] for the runs that it shows and makes a [Document] of the
// answers; package experiment plans and makes the runs. What is run is data: the settings of the profiles [Quick],
// for a laptop, and [Paper], with the published depths, ten splits and up to 1000 epochs, are in data/settings, the
// published numbers in data/paper. Rows of the paper's tables and registered models are two lists, joined by name: a
// row whose model is registered gets runs.
package paper
