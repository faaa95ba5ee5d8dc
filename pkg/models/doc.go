// Package models builds the models: GCN+ReP (forward and reverse layers side by side, paper section 3) and the plain
// residual GCN.
package models
