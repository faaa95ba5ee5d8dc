// Package layers holds the message-passing blocks: how each is applied, its derivative by hand, and the bound on its
// Lipschitz constant that makes X + h(X) invertible; and GRAND's attention and diffusion.
package layers
