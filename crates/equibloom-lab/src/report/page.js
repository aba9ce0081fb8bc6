'use strict';
// Shows the value of the point nearest to the pointer. The page is complete without it.
(() => {
  const box = document.getElementById('value');
  const number = value => {
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(+value.toPrecision(4));
  };
  const axis = text => {
    const [low, high, logarithmic] = text.split(' ').map(Number);
    return value => logarithmic
      ? (value > 0 ? Math.log(value / low) / Math.log(high / low) : NaN)
      : (value - low) / (high - low);
  };
  for (const section of document.querySelectorAll('section.figure')) {
    const data = JSON.parse(section.querySelector('script').textContent);
    for (const svg of section.querySelectorAll('svg')) {
      const panels = [...svg.querySelectorAll('.panel')].map(panel => ({
        index: +panel.dataset.panel,
        area: panel.dataset.area.split(' ').map(Number),
        x: axis(panel.dataset.x),
        y: axis(panel.dataset.y),
      }));
      const focus = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
      focus.setAttribute('class', 'focus');
      focus.setAttribute('r', 8);
      const hide = () => {
        box.hidden = true;
        focus.remove();
      };
      const show = event => {
        const frame = svg.getBoundingClientRect();
        const zoom = svg.viewBox.baseVal.width / frame.width;
        const at = [(event.clientX - frame.left) * zoom, (event.clientY - frame.top) * zoom];
        let best = null;
        for (const {index, area: [left, top, width, height], x, y} of panels) {
          for (const series of data.series.filter(series => series.panel === index)) {
            series.x.forEach((value, i) => {
              const px = left + width * x(value);
              const py = top + height * (1 - y(series.y[i]));
              // Of a point and a line at the same place the point is meant.
              const distance = Math.hypot(px - at[0], py - at[1]) + (series.points ? 0 : 2);
              if (distance < (best ? best.distance : 40)) best = {distance, px, py, series, i};
            });
          }
        }
        if (!best) return hide();
        const {series, i, px, py} = best;
        const sigma = series.sigma.length ? ` ± ${number(4 * series.sigma[i])}` : '';
        box.textContent = `${series.name}\n${data.x}: ${number(series.x[i])}\n${number(series.y[i])}${sigma}`;
        box.hidden = false;
        const room = document.documentElement.clientWidth - box.offsetWidth - 8;
        box.style.left = `${Math.max(8, Math.min(frame.left + px / zoom + 14, room)) + scrollX}px`;
        box.style.top = `${frame.top + py / zoom + 14 + scrollY}px`;
        focus.setAttribute('cx', px);
        focus.setAttribute('cy', py);
        svg.append(focus);
      };
      svg.addEventListener('pointermove', show);
      svg.addEventListener('pointerdown', show);
      svg.addEventListener('pointerleave', hide);
    }
  }
})();
