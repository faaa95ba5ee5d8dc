// Package trained keeps trained models in files, and uses them: on the graph that they were trained on, or on another
// graph with the same features. These three lines load a model and a graph, and predict (errors are not checked here):
//
//	model, err := trained.Read("out/run/split0.safetensors")
//	graph, err := datasets.Load(ctx, "my-graph", datasets.Options{})
//	prediction, err := model.Predict(nil, graph)
//
// 'revgnn train --out DIR' writes such files, DIR/split<k>.safetensors for split k, and 'revgnn predict' reads them. A
// file holds the parameters of the best epoch, which is the one with the best validation metric. Its metadata has
// everything else that a prediction needs: see [About].
package trained
