// Bars for the last hour, one per minute, as SVG.
import { el, svg, replace } from './dom.js';

const WIDTH = 600;
const HEIGHT = 72;

// `lower` and `upper` are keys of the minutes; `show` makes text of a number.
export class Strip {
  constructor(title, lower, upper, show) {
    Object.assign(this, { title, lower, upper, show });
    this.total = el('p', { class: 'strip-total' });
    this.drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', class: 'strip' });
    this.peak = el('span', { class: 'strip-peak' });
    this.node = el('figure', { class: 'chart' },
      el('figcaption', null, el('span', { class: 'strip-title' }, title), this.total),
      el('div', { class: 'strip-box' }, this.peak, this.drawing),
      el('div', { class: 'strip-axis', 'aria-hidden': 'true' }, el('span', null, '60 min ago'), el('span', null, '30'), el('span', null, 'now')));
  }

  draw(minutes) {
    const { lower, upper, show } = this;
    const most = Math.max(1, ...minutes.map((minute) => minute[lower.key] + minute[upper.key]));
    const wide = WIDTH / minutes.length;
    const bars = [];
    const sums = [0, 0];
    minutes.forEach((minute, index) => {
      let floor = HEIGHT;
      [lower, upper].forEach((part, which) => {
        const value = minute[part.key];
        sums[which] += value;
        if (value === 0) return;
        const high = Math.max(2, (value / most) * (HEIGHT - 4));
        floor -= high;
        const title = `${new Date(minute.t * 1000).toTimeString().slice(0, 5)}  ${show(value)} ${part.name}`;
        bars.push(svg('rect', { x: index * wide + 1, y: floor, width: wide - 2, height: high, class: part.style, rx: 1 },
          svg('title', { text: title })));
      });
    });
    const words = `${show(sums[0])} ${lower.name}, ${show(sums[1])} ${upper.name}`;
    this.drawing.setAttribute('aria-label', `${this.title} in the last hour: ${words}`);
    replace(this.drawing, bars);
    replace(this.total,
      el('span', { class: `key ${lower.style}` }), `${show(sums[0])} ${lower.name} `,
      el('span', { class: `key ${upper.style}` }), `${show(sums[1])} ${upper.name}`);
    this.peak.textContent = most > 1 ? show(most) : '';
  }
}
