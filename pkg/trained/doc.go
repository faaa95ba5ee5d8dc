// Package trained writes trained models to files, reads them, and predicts with them. A model can predict on the graph
// that it was trained on, and on another graph with the same features. These three lines load a model and a graph, and
// predict (errors are not checked here):
//
//	model, err := trained.Read("out/run/split0.safetensors")
//	graph, err := datasets.Load(ctx, "my-graph", datasets.Options{})
//	prediction, err := model.Predict(nil, graph)
//
// The command 'revgnn train --out DIR' writes the model of split k to the file DIR/split<k>.safetensors. The command
// 'revgnn predict' reads such a file. The file has the parameters of the best epoch, which is the epoch with the best
// validation metric. The metadata of the file has everything else that a prediction needs: see [About].
package trained
