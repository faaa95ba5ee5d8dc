// Package models has the models, each or each family in a file of its own, and the registry in which all other packages
// look them up.
//
// A model registers its [Kind]: its name, its settings with their defaults, and a function that makes its [Network]. A
// network lays out a graph for message passing ([Network.Prepare]) and adds itself to a computation graph of GoMLX
// ([Network.Build]), declaring its parameters where it uses them. Only some networks are an [Inverter]
// or a [Tracer]. docs/add-a-model.md shows how to add a model.
//
// In comments, the paper is that of Park, Heo and Kim (ICML 2024). n is the number of nodes, d the width (the setting
// "hidden"), A the adjacency, D the diagonal matrix of degrees, [X, Y] and X ‖ Y matrices side by side. Values of edges
// are [places, k]: a row for each place, which holds an edge or padding (package sparse).
package models
