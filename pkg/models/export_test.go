package models

// ChosenNodes is the function chosenNodes of [halfHop], for the tests in package models_test.
var ChosenNodes = chosenNodes
