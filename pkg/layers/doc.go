// Package layers holds the message-passing blocks: their formulas, their derivatives by hand, and the bound on their
// Lipschitz constant that makes X + h(X) invertible. It also has GRAND's attention and diffusion.
package layers
