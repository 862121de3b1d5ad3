// Agent: what it may do, what it did, and the switch that stops it.
import { el, replace, section, update } from './dom.js';
import { bytes, count, duration, moment } from './format.js';
import { LineList } from './list.js';
import { post } from './api.js';
import { modeBadge, table } from './now.js';

const TIMES = [['600', '10 minutes'], ['3600', '1 hour'], ['28800', '8 hours'], ['86400', '1 day'], ['', 'until revoked']];

function words(list) {
  return (list ?? []).map((text) => el('code', { class: 'pattern' }, String(text)));
}

function term(name, value) {
  return value.length === 0 ? [] : [el('dt', null, name), el('dd', null, value)];
}

function policyOf(policy, revoked) {
  const more = (policy.allow_rules ?? 0) - (policy.allow ?? []).length;
  return el('dl', { class: 'terms' },
    term('Allowed', policy.allow?.length ? [words(policy.allow), more > 0 ? ` and ${count(more)} more` : ''] : ['nothing']),
    term('Denied', words(policy.deny)),
    term('Opened TLS', words(policy.opened)),
    term('Revoked', words(revoked)),
    term('Ports', words(policy.ports)),
    term('HTTP ports', words(policy.http_ports)),
    term('Addresses', words(policy.allow_ip)),
    term('TLS name check', [policy.sni]));
}

export function agentPage(context, id) {
  const path = `policy/${encodeURIComponent(id)}`;
  const act = async (what, body) => {
    try {
      await post(`${path}/${what}`, body);
    } catch (error) {
      context.showProblem(error.message);
    }
  };
  const list = new LineList();
  const badge = el('span');
  const modes = el('div', { class: 'buttons', role: 'group', 'aria-label': 'Mode of the agent' });
  const facts = el('p', { class: 'quiet' });
  const policy = el('div');
  const grants = el('div');
  const budgets = el('div');
  const hosts = el('div');
  const gone = el('p', { class: 'problem', role: 'alert', hidden: true });

  const pattern = el('input', { type: 'text', required: true, placeholder: 'api.example.com or .example.com', 'aria-label': 'Host or pattern', autocapitalize: 'none', spellcheck: 'false' });
  const time = el('select', { 'aria-label': 'For how long' }, TIMES.map(([value, name]) => el('option', { value }, name)));
  const form = el('form', { class: 'bar', onsubmit: (event) => {
    event.preventDefault();
    const body = { hosts: pattern.value.trim().split(/[\s,]+/) };
    if (time.value) body.ttl_seconds = Number(time.value);
    act('allow', body).then(() => { pattern.value = ''; });
  } }, el('label', null, 'Allow ', pattern), el('label', null, 'for ', time), el('button', { type: 'submit', class: 'yes' }, 'Allow'));

  const showModes = (mode) => {
    const choices = [['enforce', 'Enforce'], ['observe', 'Observe'], ['offline', 'Stop']];
    update(modes, mode, () => choices.map(([value, name]) => el('button', {
      type: 'button', class: value === 'offline' ? 'no' : null, 'aria-pressed': String(value === mode), disabled: value === mode,
      title: value === 'offline' ? 'Refuse every request and cut what is open' : null,
      onclick: () => act('mode', { mode: value }),
    }, name)));
  };

  const showGrants = (all) => replace(grants, table(['Hosts', 'Left', 'Why', ''], all.map((grant) => {
    const left = [];
    if (grant.seconds_left !== undefined) left.push(duration(grant.seconds_left));
    if (grant.requests_left !== undefined) left.push(`${count(grant.requests_left)} of ${count(grant.max_requests)} requests`);
    if (grant.bytes_up_left !== undefined) left.push(`${bytes(grant.bytes_up_left)} of ${bytes(grant.bytes_up)} up`);
    return el('tr', null, el('td', { class: 'wrap' }, words(grant.hosts)), el('td', null, left.join(', ') || 'until revoked'),
      el('td', { class: 'wrap' }, grant.reason ? [grant.reason, el('br')] : '', el('small', null, grant.actor)),
      el('td', null, grant.actor === 'fleet' ? '' : el('button', { type: 'button', class: 'no small', 'aria-label': `Revoke ${grant.hosts.join(', ')}`, onclick: () => act('revoke', { grant: grant.id }) }, 'Revoke')));
  }), 'No grants.'));

  const showBudgets = (ofBytes, ofHosts) => {
    const all = Object.entries(ofBytes ?? {}).map(([name, budget]) => ({ ...budget, label: name === 'bytes_up' ? 'Up' : 'Down', shown: bytes }));
    const kinds = { max_requests: 'requests', requests_per_minute: 'requests in this minute', tokens: 'tokens' };
    for (const host of ofHosts ?? []) {
      for (const [name, kind] of Object.entries(kinds)) {
        if (host[name]) all.push({ ...host[name], label: `${host.host}, ${kind}`, shown: count });
      }
    }
    replace(budgets, all.length === 0 ? el('p', { class: 'empty' }, 'No budgets.') : [
      all.map(({ label, shown, total, used, left }) => el('p', { class: 'budget' },
        el('label', null, `${label}: ${shown(used)} of ${shown(total)} used, ${shown(left)} left`,
          el('meter', { min: 0, max: total, value: used, high: total * 0.75, optimum: 0 })))),
      el('button', { type: 'button', class: 'small', onclick: () => act('budget-reset') }, 'Reset the budgets')]);
  };

  const hostRow = (row) => {
    // A grant changes nothing for an address or a name that a deny rule covers.
    const isRefused = row.denied > 0 && row.allowed === 0;
    const canAllow = ['host-not-allowed', 'port-not-allowed'].includes(row.reason);
    const button = isRefused && !canAllow ? '' : isRefused
      ? el('button', { type: 'button', class: 'yes small', 'aria-label': `Allow 1 h: ${row.host}`, onclick: () => act('allow', { hosts: [row.host], ttl_seconds: 3600 }) }, 'Allow 1 h')
      : el('button', { type: 'button', class: 'no small', 'aria-label': `Revoke ${row.host}`, onclick: () => act('revoke', { hosts: [row.host] }) }, 'Revoke');
    return el('tr', null,
      el('td', { class: 'wrap' }, el('a', { href: `#/host/${encodeURIComponent(row.host)}` }, row.host), row.reason && row.denied ? el('small', null, ` ${row.reason}`) : ''),
      el('td', { class: 'number' }, count(row.allowed + row.would_deny)), el('td', { class: row.denied ? 'number deny' : 'number' }, count(row.denied)),
      el('td', { class: 'number' }, bytes(row.bytes_up)), el('td', { class: 'number' }, bytes(row.bytes_down)),
      el('td', null, moment(row.last)), el('td', null, button));
  };

  return {
    title: id,
    query: { agent: id, show_agent: id },
    node: el('div', null,
      el('div', { class: 'page-head' }, el('h1', null, id, ' ', badge), modes),
      gone, facts,
      el('div', { class: 'grid three' }, section('May reach', policy), section('Grants', grants, form), section('Budgets', budgets)),
      section('Hosts', el('p', { class: 'quiet' }, 'Since stile-web started. Bytes are counted when a connection ends.'), hosts),
      el('section', { class: 'panel decisions' }, el('div', { class: 'bar' }, el('h2', null, 'Decisions'), list.pause), list.node, list.info)),
    keys: { p: () => list.toggle() },
    on: {
      agent: (answer) => {
        gone.hidden = answer.ok;
        if (!answer.ok) {
          gone.textContent = answer.error.message;
          return;
        }
        const { agent } = answer;
        update(badge, agent.mode, () => modeBadge(agent.mode));
        showModes(agent.mode);
        const said = [`from ${(agent.source ?? []).join(', ')}`, `entry ${agent.entry.split('/').pop()}`, `${count(agent.connections)} connections open`,
          `${count(agent.counters.requests_allowed)} allowed`, `${count(agent.counters.requests_denied)} refused`];
        if (agent.seconds_left !== undefined) said.push(`expires in ${duration(agent.seconds_left)}`);
        const fence = agent.containment;
        if (fence) said.push(`containment ${fence.holds ? 'holds' : 'FAILED'}, checked ${moment(fence.checked)}`);
        facts.textContent = said.join(' · ');
        facts.classList.toggle('problem', fence?.holds === false);
        facts.title = fence?.problem ?? agent.entry;
        update(policy, JSON.stringify([agent.policy, agent.revoked]), () => policyOf(agent.policy, agent.revoked));
        showGrants(agent.grants);
        showBudgets(agent.budgets, agent.host_budgets);
      },
      hosts: ({ hosts: rows }) => replace(hosts, table(['Host', { name: 'Allowed', number: true }, { name: 'Refused', number: true },
        { name: 'Up', number: true }, { name: 'Down', number: true }, 'Last', ''], rows.map(hostRow), 'No request was seen yet.')),
      lines: (value) => list.add(value),
    },
  };
}
