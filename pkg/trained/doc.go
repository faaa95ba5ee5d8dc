// Package trained writes trained models to files, reads them, and predicts with them, on the graph of the training or
// another one with the same features:
//
//	model, err := trained.Read("out/run/split0.safetensors")
//	graph, err := datasets.Load(ctx, "my-graph", datasets.Options{})
//	prediction, err := model.Predict(nil, graph)
//
// Such a file has the parameters of the epoch with the best validation metric; its metadata has all else that a
// prediction needs: see [About].
package trained
