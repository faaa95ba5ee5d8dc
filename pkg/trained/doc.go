// Package trained keeps trained models in files, and uses them: on the graph that they were trained on, or on another
// graph with the same features. Three lines load a model and a graph, and predict:
//
//	model, err := trained.Read("out/run/split0.safetensors")
//	graph, err := datasets.Load(ctx, "my-graph", datasets.Options{})
//	prediction, err := model.Predict(nil, graph)
//
// 'revgnn train --out DIR' writes such files, DIR/split<k>.safetensors, and 'revgnn predict' reads them. A file holds
// the parameters of the best epoch, the one with the best validation metric, and in its metadata everything that a
// prediction needs: see [About].
package trained
