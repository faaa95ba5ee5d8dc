// Package models holds the models, a file each, and the registry that the rest of the programme knows them by.
//
// A model registers its [Kind]: name, settings with their defaults, and a function that makes its [Network]. A
// network lays a graph out ([Network.Prepare]) and adds itself to a computation graph ([Network.Build]), with
// parameters that it declares where it uses them ([Builder.Param], [Builder.Linear], or GoMLX's own layers on
// [Builder.Scope]). What only some networks can do, such as being traced layer by layer, is an interface of its own:
// [Inverter], [Tracer], [Explainer].
//
// docs/add-a-model.md adds one, step by step.
package models
