// Now: what waits, what happens, what is open, what runs out.
import { el, replace, section, update } from './dom.js';
import { bytes, count, duration, hostPort } from './format.js';
import { Asks } from './asks.js';
import { LineList } from './list.js';
import { Strip } from './chart.js';

const VERDICTS = [['', 'every verdict'], ['allow', 'allowed'], ['deny', 'refused'], ['would-deny', 'would refuse']];

export function agentLink(id) {
  return el('a', { href: `#/agent/${encodeURIComponent(id)}` }, id);
}

export function modeBadge(mode) {
  return el('span', { class: `badge mode-${mode}` }, mode);
}

// The grants and budgets of these agents that end, the next end first.
function endings(agents) {
  const rows = [];
  for (const agent of agents) {
    for (const grant of agent.grants ?? []) {
      const left = [];
      if (grant.seconds_left !== undefined) left.push(duration(grant.seconds_left));
      if (grant.requests_left !== undefined) left.push(`${count(grant.requests_left)} requests`);
      if (grant.bytes_up_left !== undefined) left.push(`${bytes(grant.bytes_up_left)} up`);
      if (left.length > 0) rows.push({ agent: agent.id, what: grant.hosts.join(', '), left: left.join(', '), order: grant.seconds_left ?? 1e9 });
    }
    for (const [name, budget] of Object.entries(agent.budgets ?? {})) {
      const part = budget.total > 0 ? budget.left / budget.total : 0;
      if (part < 0.25) rows.push({ agent: agent.id, what: name === 'bytes_up' ? 'budget, up' : 'budget, down', left: bytes(budget.left), order: part * 100 });
    }
    for (const host of agent.host_budgets ?? []) {
      for (const [name, kind] of [['max_requests', 'requests'], ['tokens', 'tokens']]) {
        const budget = host[name];
        if (!budget || budget.left / budget.total >= 0.25) continue;
        rows.push({ agent: agent.id, what: `${host.host}, ${kind}`, left: count(budget.left), order: budget.left / budget.total * 100 });
      }
    }
    if (agent.seconds_left !== undefined) rows.push({ agent: agent.id, what: 'the agent itself', left: duration(agent.seconds_left), order: agent.seconds_left });
  }
  return rows.sort((a, b) => a.order - b.order).slice(0, 20);
}

function table(titles, rows, empty) {
  if (rows.length === 0) return el('p', { class: 'empty' }, empty);
  return el('div', { class: 'scroll' }, el('table', null,
    el('thead', null, el('tr', null, titles.map((title) => (title === '' ? el('td')
      : el('th', { scope: 'col', class: title.number ? 'number' : null }, title.name ?? title))))),
    el('tbody', null, rows)));
}

export { table };

export function nowPage(context) {
  const filter = { agent: '', verdict: '', host: '' };
  const asks = new Asks(context.showProblem);
  const list = new LineList();
  const requests = new Strip('Requests', { key: 'allowed', name: 'allowed', style: 'allow' }, { key: 'denied', name: 'refused', style: 'deny' }, count);
  const traffic = new Strip('Traffic', { key: 'bytes_down', name: 'down', style: 'down' }, { key: 'bytes_up', name: 'up', style: 'up' }, bytes);
  const agents = el('div');
  const open = el('div');
  const ending = el('div');
  const openTitle = el('h2', null, 'Open connections');

  const change = () => {
    list.clear();
    context.restart({ agent: agent.value, verdict: verdict.value, host: host.value.trim() });
  };
  const agent = el('select', { 'aria-label': 'Agent', onchange: change }, el('option', { value: '' }, 'every agent'));
  const verdict = el('select', { 'aria-label': 'Verdict', onchange: change }, VERDICTS.map(([value, name]) => el('option', { value }, name)));
  const host = el('input', { type: 'search', placeholder: 'part of a host', 'aria-label': 'Host', title: 'Key: /' });
  let typing;
  host.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(change, 250);
  });

  const decisions = el('section', { class: 'panel decisions' },
    el('div', { class: 'bar' }, el('h2', null, 'Decisions'), el('div', { class: 'filters' }, agent, verdict, host, list.pause)),
    list.node, list.info);

  return {
    title: 'Now',
    query: filter,
    node: el('div', { class: 'now' },
      el('h1', { class: 'unseen' }, 'Now'), // for screen readers: the page is what it shows
      asks.node,
      el('section', { class: 'panel strips', 'aria-label': 'The last hour' }, requests.node, traffic.node),
      el('div', { class: 'columns' },
        decisions,
        el('div', { class: 'side' },
          section('Agents', agents),
          section('Running out', ending),
          el('section', { class: 'panel' }, openTitle, open)))),
    keys: { '/': () => host.focus(), p: () => list.toggle() },
    on: {
      asks: (value) => asks.show(value),
      strip: (minutes) => {
        requests.draw(minutes);
        traffic.draw(minutes);
      },
      lines: (value) => list.add(value),
      agents: ({ agents: all }) => {
        const ids = all.map((one) => one.id);
        update(agent, ids.join(), () => [el('option', { value: '' }, 'every agent'), ids.map((id) => el('option', { value: id }, id))]);
        agent.value = ids.includes(filter.agent) ? filter.agent : '';
        replace(agents, table(['Agent', 'Mode', { name: 'Allowed', number: true }, { name: 'Refused', number: true }],
          all.slice(0, 50).map((one) => el('tr', null,
            el('td', null, agentLink(one.id)), el('td', null, modeBadge(one.mode)),
            el('td', { class: 'number' }, count(one.requests_allowed)), el('td', { class: 'number' }, count(one.requests_denied)))),
          'There is no agent: every request is refused.'));
        replace(ending, table(['Agent', 'What', 'Left'],
          endings(all).map((row) => el('tr', null, el('td', null, agentLink(row.agent)), el('td', { class: 'wrap' }, row.what), el('td', null, row.left))),
          'No grant or budget ends soon.'));
      },
      connections: ({ total, connections }) => {
        openTitle.textContent = total > 0 ? `Open connections (${count(total)})` : 'Open connections';
        const rows = [...connections].sort((a, b) => b.bytes_up + b.bytes_down - a.bytes_up - a.bytes_down).slice(0, 50);
        replace(open, table(['Agent', 'Host', { name: 'Up', number: true }, { name: 'Down', number: true }, { name: 'Age', number: true }],
          rows.map((one) => el('tr', null, el('td', null, agentLink(one.agent)),
            el('td', { class: 'wrap' }, el('a', { href: `#/host/${encodeURIComponent(one.host)}` }, hostPort(one))),
            el('td', { class: 'number' }, bytes(one.bytes_up)), el('td', { class: 'number' }, bytes(one.bytes_down)),
            el('td', { class: 'number' }, duration(one.age_seconds)))),
          'Nothing is open.'));
      },
    },
  };
}
