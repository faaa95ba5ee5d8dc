package models

// ChosenNodes gives the tests in package models_test chosenNodes.
var ChosenNodes = chosenNodes
