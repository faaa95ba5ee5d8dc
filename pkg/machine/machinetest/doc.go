// Package machinetest gives tests little of what a machine has: a small disk, and a control group with little memory.
// Both take rights that not everybody has; a test that cannot have them is skipped, and says so.
package machinetest
