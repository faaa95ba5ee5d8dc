// Package machinetest lets tests run with a small disk, or in a control group with little memory (Linux limits the
// memory of processes by control groups). A test needs special rights for this, such as those of root. Without these
// rights the test is skipped with a message.
package machinetest
