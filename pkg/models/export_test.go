package models

// ChosenNodes gives the tests in package models_test the function chosenNodes of halfhop.go.
var ChosenNodes = chosenNodes
