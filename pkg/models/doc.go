// Package models holds the models, each in a file of its own, and the registry in which all other packages look models
// up.
//
// A model registers its [Kind]: its name, its settings with their defaults, and a function that makes its [Network]. A
// network converts a dataset's graph to the arrays that it needs ([Network.Prepare]), and adds itself to a computation
// graph of GoMLX ([Network.Build]). It declares its parameters where it uses them: by [Builder.Param], by
// [Builder.Linear], or by GoMLX's own layers on [Builder.Scope]. Abilities that only some networks have are interfaces
// of their own, for example [Inverter], [Tracer] and [Explainer].
//
// In the comments of this package, "the paper" is that of Park, Heo and Kim (ICML 2024). The paper of another model is
// called its publication. "To lay out" a matrix is to arrange its entries for fast sparse products, as package sparse
// does. A place is a position at which a laid-out matrix stores an entry (an edge) or padding. Values of edges have one
// row for each place, [places, k]. The cotangent of an array is the gradient of the loss with respect to it.
//
// docs/add-a-model.md explains step by step how to add a model.
package models
