// Package host ends the work of a process in order when a signal asks for it. It is for commands and cells of
// notebooks: a library changes nothing of its process.
package host
