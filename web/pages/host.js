// Host: who reached it, when, how much.
import { el, replace, section } from './dom.js';
import { bytes, count, moment } from './format.js';
import { LineList } from './list.js';
import { agentLink, table } from './now.js';

export function hostPage(context, host) {
  const list = new LineList();
  const agents = el('div');
  return {
    title: host,
    query: { host, whole: '1', show_host: host },
    node: el('div', null,
      el('div', { class: 'page-head' }, el('h1', { class: 'wrap' }, host)),
      section('Who reached it', el('p', { class: 'quiet' }, 'Since stile-web started. Bytes are counted when a connection ends.'), agents),
      el('section', { class: 'panel decisions' }, el('div', { class: 'bar' }, el('h2', null, 'Decisions'), list.pause), list.node, list.info)),
    keys: { p: () => list.toggle() },
    on: {
      hosts: ({ hosts }) => replace(agents, table(['Agent', { name: 'Allowed', number: true }, { name: 'Refused', number: true },
        { name: 'Up', number: true }, { name: 'Down', number: true }, 'First', 'Last'],
      hosts.map((row) => el('tr', null, el('td', null, row.agent ? agentLink(row.agent) : 'unknown'),
        el('td', { class: 'number' }, count(row.allowed + row.would_deny)), el('td', { class: row.denied ? 'number deny' : 'number' }, count(row.denied)),
        el('td', { class: 'number' }, bytes(row.bytes_up)), el('td', { class: 'number' }, bytes(row.bytes_down)),
        el('td', null, moment(row.first)), el('td', null, moment(row.last)))), 'No request to this host was seen yet.')),
      lines: (value) => list.add(value),
    },
  };
}
