// Package paper is the paper as a programme: one file per table and figure of "Mitigating Oversmoothing Through Reverse Process
// of GNNs for Heterophilic Graphs" (Park, Heo and Kim, ICML 2024), with its configurations, its published numbers and its
// rendering.
//
// An item, such as table 2, is a function that asks a [View] for the runs that it shows and makes a [Document] of the answers.
// What it asks for is its plan, so that plan and rendering cannot disagree. Runs that are not there yet are made by a [Runner],
// one after the other, and recorded at once; two profiles say what they are: [Quick], for a laptop, and [Paper], with the
// published depths, ten splits and up to 1000 epochs.
package paper
