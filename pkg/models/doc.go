// Package models builds the models: GCN+ReP, GAT+ReP and GRAND+ReP, which read a forward and a reverse process side by side
// (paper section 3), and the plain residual GCN, residual GAT and GRAND.
package models
