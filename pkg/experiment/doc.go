// Package experiment plans and makes runs: trainings, inversions, benchmarks and measurements of datasets. Each run is
// recorded as soon as it ends, so that interrupted work resumes where it stopped.
//
// A [Work] is a function that asks a [View] for runs ([Ask], [View.Search]) and makes something of the answers, such
// as a table. The runs that it asks for are its plan, so that plan and result cannot disagree. A [Runner] makes the
// runs that are not recorded yet, one after the other. A [Profile], read from a file, says on which datasets and
// splits models are trained, and among which settings to choose.
//
// A run is identified by what it ran ([Task.Key]): its kind, dataset, split and settings. The cost of runs is
// estimated from recorded runs of the same program, or measured ([Costs], [Runner.Time]).
package experiment
