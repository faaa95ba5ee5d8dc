// Package experiment plans and makes runs: trainings, inversions, benchmarks and measurements of datasets. Each run is
// recorded as soon as it ends, so that work that was interrupted goes on where it stopped.
//
// A [Work] is a function that asks a [View] for the results of runs ([Ask], [View.Search]) and makes something of them,
// such as a table. The plan of the work is the list of runs that this function asks for, so that plan and result cannot
// disagree. A [Runner] makes those runs that are not recorded yet, one after the other. A [Profile], read from a file,
// says on which datasets and splits models are trained, and among which settings to choose.
//
// A run is identified by its kind, dataset, split and settings ([Task.Key]). The cost of runs is estimated from
// recorded runs of the same program, or measured ([Costs], [Runner.Time]).
package experiment
