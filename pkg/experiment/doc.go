// Package experiment plans and makes runs: trainings, inversions, benchmarks and measurements of datasets, each
// recorded as soon as it ends, so that whatever is interrupted goes on where it stopped.
//
// What wants runs is a [Work]: a function that asks a [View] for them ([Ask], [View.Search]) and makes something of
// the answers, such as a table. What it asks for is its plan, so that plan and result cannot disagree. Runs that are
// not there yet are made by a [Runner], one after the other. A [Profile], which is a file, says on which datasets and
// splits, and among which settings to choose.
//
// A run is found again by what it ran ([Task.Key]): its kind, dataset, split and settings. What runs cost is taken
// from recorded runs of the very program, or measured ([Costs], [Runner.Time]).
package experiment
