option => {
  const short = v => v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 0.001) ? (+v.toPrecision(6)).toExponential().replace('+', '')
    : String(+v.toPrecision(6));
  for (const axis of [].concat(option.yAxis)) axis.axisLabel.formatter = short;
  // The last label of an axis with X is the largest X of the data, which may have many digits.
  for (const axis of [].concat(option.xAxis)) axis.axisLabel.formatter = v => short(Number.isInteger(v) ? v : +v.toPrecision(4));
  // An error bar or a band that would extend beyond the panel is cut at the edge of the panel. It is also cut there if
  // it would extend to zero or below on a logarithmic axis.
  const place = (params, api, x, y) => {
    const box = params.coordSys, at = api.coord([x, y]);
    const down = Number.isFinite(at[1]) ? at[1] : box.y + box.height;
    return [at[0], Math.min(Math.max(down, box.y), box.y + box.height), down >= box.y && down < box.y + box.height];
  };
  const bar = s => (params, api) => {
    const low = place(params, api, api.value(0), api.value(1)), high = place(params, api, api.value(0), api.value(2));
    const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: s.itemStyle.color, lineWidth: 1.3}});
    const caps = [low, high].filter(p => p[2]).map(([x, y]) => line(x - 4, y, x + 4, y));
    return {type: 'group', children: [line(low[0], low[1], high[0], high[1]), ...caps]};
  };
  const band = s => (params, api) => params.dataIndexInside > 0 ? null : {type: 'polygon',
    shape: {points: [...s.data.map(d => place(params, api, d[0], d[1])), ...s.data.map(d => place(params, api, d[0], d[2])).reverse()]},
    style: {fill: s.itemStyle.color, opacity: 0.18}};
  for (const s of option.series) if (s.type === 'custom') s.renderItem = (s.spread === 'band' ? band : bar)(s);
  const safe = text => String(text).replace(/[&<>]/g, c => '&#' + c.charCodeAt(0) + ';');
  option.tooltip.formatter = items => items.filter(i => i.seriesType !== 'custom').map((i, k) =>
    (k ? '' : i.value[0] + '<br>') + i.marker + safe(i.seriesName) + ': <b>' + (i.value[1] ?? '–') + '</b>' +
    (i.value[2] === undefined ? '' : ' ± ' + i.value[2])).join('<br>');
}
