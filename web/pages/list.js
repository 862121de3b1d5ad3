// A list of decisions: thousands of lines, of which only those in view are elements.
import { el, replace } from './dom.js';
import { bytes, clock, hostPort } from './format.js';

const ROW = 34;
const SPARE = 6; // rows above and below the view
const MOST = 5000;

const WORDS = { allow: 'allowed', deny: 'refused', 'would-deny': 'would refuse' };

function what(line) {
  if (line.event === 'close' && line.verdict === 'deny') return ['deny', 'cut'];
  if (line.verdict && (line.event === 'open' || line.event === 'deny')) return [line.verdict, WORDS[line.verdict]];
  return ['note', line.event];
}

// A rule is the pattern, and in brackets where it is.
function detail(line, isShort) {
  const rule = isShort ? line.rule?.split(' (')[0] : line.rule;
  const parts = [line.reason, rule === line.host ? '' : rule, line.host ? line.detail : '', line.actor ? `by ${line.actor}` : ''];
  if (line.count > 1) parts.push(`${line.count} times`);
  if (line.event === 'close') parts.push(`${bytes(line.bytes_up)} up, ${bytes(line.bytes_down)} down`);
  return parts.filter(Boolean).join(' · ');
}

export class LineList {
  constructor() {
    this.lines = []; // the newest first
    this.waiting = [];
    this.isPaused = false;
    this.skipped = 0;
    this.space = el('div', { class: 'lines-space' });
    this.body = el('div', { class: 'lines', tabindex: '0', role: 'table', 'aria-label': 'Decisions, the newest first' }, this.space);
    this.body.addEventListener('scroll', () => this.draw(), { passive: true });
    this.empty = el('p', { class: 'empty' }, 'Nothing yet. A line appears here for each request of an agent.');
    this.pause = el('button', { type: 'button', 'aria-pressed': 'false', title: 'Key: p', onclick: () => this.toggle() }, 'Pause');
    this.info = el('span', { class: 'lines-info', role: 'status' });
    new ResizeObserver(() => this.draw()).observe(this.body);
    this.node = el('div', { class: 'lines-box' }, this.empty, this.body);
    this.tell();
  }

  toggle() {
    this.isPaused = !this.isPaused;
    this.pause.setAttribute('aria-pressed', String(this.isPaused));
    this.pause.textContent = this.isPaused ? 'Go on' : 'Pause';
    if (!this.isPaused) this.take(this.waiting.splice(0));
    this.tell();
  }

  clear() {
    this.lines = [];
    this.waiting = [];
    this.skipped = 0;
    this.body.scrollTop = 0;
    this.draw();
    this.tell();
  }

  add({ lines, skipped }) {
    this.skipped += skipped;
    if (this.isPaused) {
      this.waiting.push(...lines);
      if (this.waiting.length > MOST) this.waiting.splice(0, this.waiting.length - MOST);
    } else {
      this.take(lines);
    }
    this.tell();
  }

  take(lines) {
    if (lines.length === 0) return;
    const isAtTop = this.body.scrollTop < ROW;
    this.lines = lines.slice().reverse().concat(this.lines).slice(0, MOST);
    // Lines that are being read do not move.
    if (!isAtTop) this.body.scrollTop += lines.length * ROW;
    this.draw();
  }

  tell() {
    const words = [`${this.lines.length} lines`];
    if (this.isPaused) words.push(`${this.waiting.length} waiting`);
    if (this.skipped > 0) words.push(`${this.skipped} left out: too many at once, the log has them`);
    this.info.textContent = words.join(', ');
    this.empty.hidden = this.lines.length > 0;
    this.body.hidden = this.lines.length === 0;
  }

  draw() {
    this.space.style.height = `${this.lines.length * ROW}px`;
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - SPARE);
    const last = Math.min(this.lines.length, first + Math.ceil((this.body.clientHeight || 600) / ROW) + 2 * SPARE);
    this.body.setAttribute('aria-rowcount', this.lines.length);
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(this.row(this.lines[index], index));
    replace(this.space, rows);
  }

  row(line, index) {
    const [style, word] = what(line);
    const node = el('div', { class: `line ${style}`, role: 'row', 'aria-rowindex': index + 1 },
      el('time', { role: 'cell', datetime: line.ts }, clock(line.ts)),
      el('span', { role: 'cell', class: 'verdict' }, word),
      el('span', { role: 'cell', class: 'who' }, line.agent ? el('a', { href: `#/agent/${encodeURIComponent(line.agent)}` }, line.agent) : ''),
      el('span', { role: 'cell', class: 'where', title: line.host ? hostPort(line) : line.detail },
        line.host ? el('a', { href: `#/host/${encodeURIComponent(line.host)}` }, hostPort(line)) : line.detail ?? ''),
      el('span', { role: 'cell', class: 'why', title: detail(line, false) }, detail(line, true)));
    node.style.transform = `translateY(${index * ROW}px)`;
    return node;
  }
}
