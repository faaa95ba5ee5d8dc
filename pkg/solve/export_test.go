package solve

// KeepTapes lets tests change the memory up to which a scan keeps tapes.
var KeepTapes = &keepTapes
