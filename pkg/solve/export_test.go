package solve

// KeepTapes is the memory up to which a scan keeps tapes.
var KeepTapes = &keepTapes
