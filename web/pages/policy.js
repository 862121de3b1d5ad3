// Policy: a change that is typed in, what it would do, and the part of it that can be applied now.
import { el, replace, section } from './dom.js';
import { count } from './format.js';
import { get, post } from './api.js';
import { agentLink, table } from './now.js';

const TIMES = [['3600', '1 hour'], ['86400', '1 day'], ['', 'until revoked']];

const patterns = (sign, list) => list.map((one) => el('div', null, el('code', { class: sign === '+' ? 'pattern added' : 'pattern removed' }, `${sign} ${one}`)));

function ruleRow(rule) {
  return el('tr', null, el('td', null, agentLink(rule.agent), rule.kind === 'changed' ? '' : ` (${rule.kind})`),
    el('td', { class: 'wrap' }, patterns('+', rule.allow_added), patterns('-', rule.allow_removed)),
    el('td', { class: 'wrap' }, patterns('+', rule.deny_added), patterns('-', rule.deny_removed)),
    el('td', { class: 'wrap' }, rule.settings.map((one) => el('div', null, `${one.key}: ${one.before} → ${one.after}`))));
}

function requestTable(part, empty) {
  const more = part.total - part.rows.length;
  return [table(['Agent', 'Host', { name: 'Requests', number: true }, 'Before', 'After'], part.rows.map((row) => el('tr', null,
    el('td', null, row.agent), el('td', { class: 'wrap' }, row.target), el('td', { class: 'number' }, count(row.count)),
    el('td', null, row.before), el('td', { class: 'wrap' }, row.after))), empty), more > 0 ? el('p', { class: 'quiet' }, `and ${count(more)} more`) : ''];
}

// What of a change the daemon can do at once, and what only its files can.
export function split(rules) {
  const live = [];
  const byHand = [];
  for (const rule of rules) {
    if (rule.kind !== 'changed') {
      byHand.push(`agent ${rule.agent} is ${rule.kind}`);
      continue;
    }
    if (rule.allow_added.length > 0) live.push({ agent: rule.agent, what: 'allow', hosts: rule.allow_added });
    const revoked = [...rule.allow_removed, ...rule.deny_added];
    if (revoked.length > 0) live.push({ agent: rule.agent, what: 'revoke', hosts: revoked });
    for (const one of rule.deny_removed) byHand.push(`${rule.agent}: deny ${one} is removed`);
    for (const one of rule.settings) byHand.push(`${rule.agent}: ${one.key}`);
  }
  return { live, byHand };
}

export function policyPage(context) {
  const text = el('textarea', { 'aria-label': 'Config', spellcheck: 'false', rows: 16, autocapitalize: 'none' });
  const file = el('p', { class: 'quiet' }, 'Reading the config in force.');
  const result = el('div', { class: 'result', 'aria-live': 'polite' });
  const check = el('button', { type: 'button', class: 'yes', disabled: true }, 'Check');
  const reset = el('button', { type: 'button' }, 'Start again');
  let path = 'the config';

  const apply = async (live, time, button) => {
    button.disabled = true;
    const done = [];
    try {
      for (const one of live) {
        const body = { hosts: one.hosts };
        if (one.what === 'allow') {
          body.reason = 'policy page';
          if (time) body.ttl_seconds = Number(time);
        }
        await post(`policy/${encodeURIComponent(one.agent)}/${one.what}`, body);
        done.push(`${one.agent}: ${one.what === 'allow' ? 'allowed' : 'revoked'} ${one.hosts.join(', ')}`);
      }
    } catch (error) {
      context.showProblem(error.message);
    }
    replace(result, section('Applied', done.length > 0 ? el('ul', null, done.map((line) => el('li', null, line))) : el('p', { class: 'empty' }, 'Nothing was applied.')));
  };

  const show = (answer) => {
    if (!answer.valid) {
      replace(result, section('Not a valid config', el('pre', { class: 'problem' }, answer.problems)));
      return;
    }
    const { live, byHand } = split(answer.rules);
    const time = el('select', { 'aria-label': 'For how long' }, TIMES.map(([value, name]) => el('option', { value }, name)));
    const button = el('button', { type: 'button', class: 'yes', disabled: live.length === 0, onclick: () => apply(live, time.value, button) }, 'Apply now');
    const scope = answer.requests > 0 ? `${count(answer.requests)} requests to ${count(answer.targets)} hosts in the log were judged by both configs.` : 'The log has no requests to judge.';
    replace(result,
      section('Rules', table(['Agent', 'Allow', 'Deny', 'Settings'], answer.rules.map(ruleRow), 'The rules are the same.')),
      section('Effect on past requests', el('p', { class: 'quiet' }, scope, answer.whole_log ? '' : ' The log was not read to its end.',
        answer.left_out > 0 ? ` ${count(answer.left_out)} lines were left out.` : ''),
      el('h3', null, `Newly refused (${count(answer.refused.total)})`), requestTable(answer.refused, 'Nothing.'),
      el('h3', null, `Newly allowed (${count(answer.allowed.total)})`), requestTable(answer.allowed, 'Nothing.'),
      el('h3', null, `Open connections that would be cut (${count(answer.cut.total)})`),
      table(['Agent', 'Host'], answer.cut.rows.map((row) => el('tr', null, el('td', null, row.agent), el('td', { class: 'wrap' }, `${row.host}:${row.port}`))), 'None.')),
      section('Apply',
        el('p', null, 'Added patterns become grants, removed patterns are revoked. Both are logged and last over restarts.'),
        byHand.length > 0 ? [el('p', null, 'Only the files can change this:'), el('ul', null, byHand.map((line) => el('li', null, line)))] : '',
        el('div', { class: 'bar' }, el('label', null, 'Allow for ', time), button),
        el('p', { class: 'quiet' }, 'To make the change lasting, edit ', el('code', null, path), ', then: ', el('code', null, 'stile diff && stile reload'))));
  };

  check.addEventListener('click', async () => {
    check.disabled = true;
    replace(result, el('p', { class: 'quiet' }, 'Checking.'));
    const checked = text.value;
    try {
      const answer = await post('config/check', { text: checked });
      // What was typed meanwhile was not checked.
      if (text.value === checked) {
        show(answer);
        result.scrollIntoView();
      }
    } catch (error) {
      replace(result);
      context.showProblem(error.message);
    }
    check.disabled = false;
  });
  text.addEventListener('input', () => replace(result));

  const load = async () => {
    replace(result);
    try {
      const answer = await get('config');
      text.value = answer.text;
      path = answer.file || '/etc/stile/stile.toml';
      replace(file, 'The config in force, with the cards and lists of ', el('code', null, path), '. Change it here, and check what the change would do.');
      check.disabled = false;
    } catch (error) {
      context.showProblem(error.message);
    }
  };
  reset.addEventListener('click', load);
  load();

  return {
    title: 'Policy',
    query: {},
    node: el('div', null, el('div', { class: 'page-head' }, el('h1', null, 'Policy')),
      el('section', { class: 'panel', 'aria-label': 'Config' }, file, text, el('div', { class: 'buttons' }, check, reset)), result),
    on: {},
  };
}
