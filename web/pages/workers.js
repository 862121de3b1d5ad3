// Workers: what the spawner runs, with the tasks of each, and the buttons to stop them.
import { el, replace, section } from './dom.js';
import { bytes, count, duration, moment } from './format.js';
import { post } from './api.js';
import { agentLink, table } from './now.js';

const time = (seconds) => moment(new Date(seconds * 1000).toISOString());

function runRow(run) {
  const end = run.status === 'running' ? '' : `exit status ${run.exit_status ?? 'unknown'}`;
  return el('tr', null,
    el('td', null, run.run === 0 ? 'command' : `task ${run.run}`), el('td', null, el('span', { class: `badge run-${run.status}` }, run.status)),
    el('td', null, time(run.started_at)), el('td', null, run.ended_at ? duration(run.ended_at - run.started_at) : ''), el('td', null, end));
}

export function workersPage(context) {
  const list = el('div');
  const heading = el('h1', null, 'Workers');
  const stopAll = el('div', { class: 'buttons' });
  const act = async (path) => {
    try {
      const answer = await post(path);
      const failed = (answer.agents ?? []).filter((one) => one.error);
      if (failed.length > 0) context.showProblem(failed.map((one) => `${one.task_id}: ${one.error}`).join('; '));
    } catch (error) {
      context.showProblem(error.message);
    }
  };

  // The button needs two presses: the first one asks.
  const offer = () => replace(stopAll, el('button', { type: 'button', class: 'no', onclick: () => {
    const yes = el('button', { type: 'button', class: 'no', onclick: () => act('agents/stop-all').finally(offer) }, 'End all workers now');
    replace(stopAll, yes, el('button', { type: 'button', onclick: offer }, 'Cancel'));
    yes.focus();
  } }, 'Stop all workers'));
  offer();

  const card = (worker, asks) => {
    const facts = [`template ${worker.template}`, worker.status, `since ${time(worker.started_at)}`];
    if (worker.expires_at) facts.push(`ends ${time(worker.expires_at)}`);
    if (worker.memory_bytes !== undefined) facts.push(bytes(worker.memory_bytes));
    if (worker.processes !== undefined) facts.push(`${count(worker.processes)} processes`);
    const waits = asks.filter((ask) => ask.agent === worker.task_id).length;
    return el('section', { class: 'panel', 'aria-label': `Worker ${worker.task_id}` },
      el('div', { class: 'bar' }, el('h2', null, agentLink(worker.task_id)),
        el('button', { type: 'button', class: 'no small', 'aria-label': `Stop ${worker.task_id}`, onclick: () => act(`agents/${encodeURIComponent(worker.task_id)}/stop`) }, 'Stop')),
      el('p', { class: 'quiet' }, facts.join(' · ')),
      waits > 0 ? el('p', { class: 'problem' }, `${count(waits)} ${waits === 1 ? 'request waits' : 'requests wait'} for a person: `, el('a', { href: '#/' }, 'answer')) : '',
      worker.tags?.length ? el('p', null, worker.tags.map((tag) => el('code', { class: 'pattern' }, tag))) : '',
      table(['What', 'State', 'Started', 'Took', 'Result'], [...(worker.runs ?? [])].reverse().map(runRow), 'No task yet.'));
  };

  let workers = { connected: true, workers: [] };
  let asks = [];
  const show = () => {
    const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    heading.textContent = workers.workers.length > 0 ? `Workers (${count(workers.workers.length)})` : 'Workers';
    stopAll.hidden = workers.workers.length === 0;
    replace(list, workers.workers.map((one) => card(one, asks)),
      workers.connected ? '' : section('No spawner', el('p', { class: 'empty' }, 'stile-spawner does not answer. ', el('code', null, 'systemctl enable --now stile-spawner.socket'), ' starts it.')),
      workers.connected && workers.workers.length === 0 ? section('No workers', el('p', { class: 'empty' }, el('code', null, 'stile spawn'), ' starts one.')) : '');
    // The list is drawn again; the button that had the focus keeps it.
    if (focused) [...list.querySelectorAll('button')].find((one) => one.getAttribute('aria-label') === focused)?.focus();
  };

  return {
    title: 'Workers',
    query: {},
    node: el('div', null, el('div', { class: 'page-head' }, heading, stopAll), list),
    on: {
      workers: (value) => {
        workers = value;
        show();
      },
      asks: (value) => {
        asks = value.asks ?? [];
        show();
      },
    },
  };
}
