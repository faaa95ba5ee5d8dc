// Package layers has the branches h of message-passing layers f(X) = X + h(X) with derivatives by hand, as
// [solve.Layer]: [GCN] and [GAT]. Each equals its automatic twin of [solve.FromFunction], and is faster.
// [Gated], [Projected] and [Normalised] change any layer. [Bound] keeps weights so small that layers have inverses. For
// GRAND, there are the attention and the differential equation.
//
// In comments, X [n, d] is the state, σ the activation, u the preactivation, q its cotangent. A place is a position in
// the stored arrays of a sparse pattern: values of edges are [places, 1]. The paper is that of Park, Heo and Kim (ICML
// 2024).
package layers
