option => {
  const f = option.frames;
  delete option.frames;
  const data = text => Array.from(atob(text), (c, i) => {
    const v = c.charCodeAt(0);
    return [i % f.cols, Math.floor(i / f.cols), v === 255 ? '-' : +(f.low + v / 254 * (f.high - f.low)).toPrecision(3)];
  });
  const frame = k => f.cells[k].map((text, i) => ({id: 'map' + i, data: data(text)}));
  frame(f.start).forEach((s, i) => { option.series[i].data = s.data; });
  /* tooltip */
  return (box, chart) => {
    const row = document.createElement('div'), input = document.createElement('input'), name = document.createElement('output');
    row.dataset.lmSuppressShortcuts = 'true';  // JupyterLab must not take keys pressed here for shortcuts
    row.style.cssText = 'display:flex;align-items:center;gap:12px;padding:4px 12px 12px ' + f.left + 'px;font:13px Helvetica,Arial,sans-serif;color:#222';
    input.type = 'range';
    input.min = 0;
    input.max = f.cells.length - 1;
    input.value = f.start;
    input.style.width = '360px';
    const show = () => {
      name.textContent = f.names[input.value];
      input.setAttribute('aria-valuetext', f.names[input.value]);
      chart.setOption({series: frame(input.value)});
    };
    input.setAttribute('aria-label', 'frame');
    input.addEventListener('input', show);
    row.append(input, name);
    box.append(row);
    show();
  };
}
