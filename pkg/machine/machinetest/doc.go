// Package machinetest lets tests run with a small disk, or in a control group with little memory. Both need rights that
// not every user has. Without these rights the test is skipped with a message.
package machinetest
