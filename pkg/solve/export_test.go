package solve

// KeepTapes lets tests change keepTapes, the number of bytes up to which a scan keeps tapes.
var KeepTapes = &keepTapes
