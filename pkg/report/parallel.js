option => {
  const short = v => v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 0.001) ? (+v.toPrecision(6)).toExponential().replace('+', '')
    : String(+v.toPrecision(6));
  for (const axis of option.parallelAxis) if (axis.type !== 'category') axis.axisLabel.formatter = short;
  const safe = text => String(text).replace(/[&<>]/g, c => '&#' + c.charCodeAt(0) + ';');
  option.tooltip.formatter = item => '<b>' + safe(item.name) + '</b><br>' +
    option.parallelAxis.map((axis, i) => safe(axis.name) + ': ' + safe(item.value[i])).join('<br>');
}
