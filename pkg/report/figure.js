function (id, width, height, kernelFile, publicFile, integrity, option, prepare) {
  const script = document.currentScript;
  // VS Code runs the script again at the end of the output, where the figure is not before it.
  const near = script && script.previousElementSibling;
  const box = near && near.id === id ? near : document.getElementById(id);
  // If the page has a module loader (define, module, exports), the library would register with it and not set
  // globalThis.echarts. The library therefore runs in a function that hides these names.
  const run = (file, how) => fetch(file, how).then(r => r.ok ? r.text() : Promise.reject(file)).then(text => {
    if (!globalThis.echarts) new Function('define', 'module', 'exports', text).call(globalThis);
  });
  const load = () => {
    if (globalThis.echarts) return Promise.resolve();
    const page = document.getElementById('jupyter-config-data');
    // JupyterHub sends the file only if a header of the request has the hub's token. The hub puts the token into a
    // cookie.
    const token = /(?:^|; *)_xsrf=([^;]*)/.exec(document.cookie);
    const own = page ? run(JSON.parse(page.textContent).baseUrl + kernelFile, token ? {headers: {'X-XSRFToken': token[1]}} : {}) : Promise.reject();
    return own.catch(() => run(publicFile, {integrity: integrity}));
  };
  // All figures of a page share one download.
  globalThis.revgnnECharts = globalThis.revgnnECharts || load();
  globalThis.revgnnECharts.then(() => {
    const control = prepare && prepare(option);
    const canvas = document.createElement('div');
    canvas.style.cssText = 'width:' + width + 'px;height:' + height + 'px';
    box.replaceChildren(canvas);
    const chart = globalThis.echarts.init(canvas, null, {width: width, height: height});
    chart.setOption(option);
    // If there is less space, the whole chart is shown smaller. If instead its right part were cut off, readers would
    // not notice that it is missing.
    const fit = () => {
      const scale = Math.min(1, box.clientWidth / width || 1);
      canvas.style.transform = scale < 1 ? 'scale(' + scale + ')' : '';
      canvas.style.marginBottom = (scale - 1) * height + 'px';
    };
    canvas.style.transformOrigin = '0 0';
    new ResizeObserver(fit).observe(box);
    fit();
    if (control) control(box, chart);
    box.dataset.drawn = 'interactive';
  }).catch(() => { /* the library cannot be loaded: the static picture stays */ });
}
