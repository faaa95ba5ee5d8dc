package models

// ChosenNodes are the nodes that [halfHop] chooses.
var ChosenNodes = chosenNodes
