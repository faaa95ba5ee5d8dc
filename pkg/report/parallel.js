option => {
  const short = v => v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 0.001) ? (+v.toPrecision(6)).toExponential().replace('+', '')
    : String(+v.toPrecision(6));
  const word = (axis, v) => axis.categories ? axis.categories[v] ?? v : v;
  for (const axis of option.parallelAxis) axis.axisLabel.formatter = axis.categories ? v => axis.categories[v] ?? '' : short;
  const safe = text => String(text).replace(/[&<>]/g, c => '&#' + c.charCodeAt(0) + ';');
  option.tooltip.formatter = item => '<b>' + safe(item.name) + '</b><br>' +
    option.parallelAxis.map((axis, i) => safe(axis.name) + ': ' + safe(word(axis, item.data.all[i]))).join('<br>');
}
