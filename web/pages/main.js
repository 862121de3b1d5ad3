// The frame of the page: session, routes, state of the daemon, the switch for all agents.
import { el, replace, update } from './dom.js';
import { count } from './format.js';
import { follow, hasKey, logIn, logOut, post, session } from './api.js';
import { loginPage } from './login.js';
import { nowPage } from './now.js';
import { agentPage } from './agent.js';
import { hostPage } from './host.js';
import { policyPage } from './policy.js';
import { workersPage } from './workers.js';

const find = (id) => document.getElementById(id);
let stop = () => {};
let page = null;

function showProblem(text) {
  const notice = find('notice');
  replace(notice, text, el('button', { type: 'button', class: 'small', onclick: () => { notice.hidden = true; } }, 'Close'));
  notice.hidden = false;
}

async function setMode(mode) {
  try {
    await post('mode', { mode });
  } catch (error) {
    showProblem(error.message);
  }
}

// The switch needs two presses: the first one asks.
function offerSwitch(mode) {
  const box = find('switch');
  const ask = () => {
    box.stileKey = 'asking';
    const yes = el('button', { type: 'button', class: 'no', onclick: () => setMode('offline') }, 'Cut everything now');
    replace(box, el('div', { class: 'buttons' }, yes,
      el('button', { type: 'button', onclick: () => { box.stileKey = ''; offerSwitch(mode); } }, 'Cancel')));
    yes.focus();
  };
  if (box.stileKey === 'asking' && mode !== 'offline') return;
  update(box, mode, () => (mode === 'offline'
    ? el('button', { type: 'button', class: 'yes', onclick: () => setMode('enforce') }, 'Let agents out again')
    : el('button', { type: 'button', class: 'no', onclick: ask }, 'Stop all agents')));
}

function showState(isConnected, status) {
  const daemon = status?.daemon;
  const text = !isConnected ? 'no connection to stile-web' : !status ? 'connecting' : !status.connected ? 'the daemon does not answer' : `mode ${daemon.mode}`;
  const good = isConnected && status?.connected;
  update(find('state'), text, () => [el('span', { class: good ? `dot mode-${daemon.mode}` : 'dot bad', 'aria-hidden': 'true' }), text]);
  if (good) offerSwitch(daemon.mode);
  document.body.classList.toggle('offline', good && daemon.mode === 'offline');
  if (!good) return;
  const parts = [`stiled ${daemon.version}`, `policy ${daemon.generation}`, `${count(daemon.agents)} agents`];
  if (daemon.audit_problem) parts.push(`audit log: ${daemon.audit_problem}`);
  if (status.missed > 0) parts.push(`${count(status.missed)} lines missed`);
  update(find('footer'), parts.join(), () => [parts.join(' · '), el('span', { class: 'keys' }, ' Keys: ', el('kbd', null, '/'), ' filter, ', el('kbd', null, 'p'), ' pause. '),
    el('button', { type: 'button', class: 'link', onclick: logOut }, 'Log out')]);
}

function showLogin(problem) {
  stop();
  page = null;
  for (const id of ['nav', 'state', 'switch', 'footer']) {
    find(id).stileKey = undefined;
    replace(find(id));
  }
  replace(find('main'), loginPage(problem));
}

function pageFor(hash, context) {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  if (parts[0] === 'agent' && parts[1]) return agentPage(context, parts[1]);
  if (parts[0] === 'host' && parts[1]) return hostPage(context, parts.slice(1).join('/'));
  if (parts[0] === 'workers') return workersPage(context);
  if (parts[0] === 'policy') return policyPage(context);
  return nowPage(context);
}

function open() {
  stop();
  let status = null;
  const on = (name, value) => {
    if (name === 'status') {
      status = value;
      showState(true, status);
    }
    page?.on[name]?.(value);
  };
  const start = () => {
    stop = follow(page.query, on, (isConnected) => showState(isConnected, status));
  };
  // The same page with another filter.
  const restart = (query) => {
    stop();
    Object.assign(page.query, query);
    start();
  };
  page = pageFor(location.hash, { restart, showProblem });
  document.title = `${page.title} – Stile`;
  const places = [['#/', 'Now'], ['#/workers', 'Workers'], ['#/policy', 'Policy']];
  const isPlace = !/^#\/(agent|host)\//.test(location.hash);
  replace(find('nav'), places.map(([href, name]) => el('a', { href, 'aria-current': isPlace && page.title === name ? 'page' : null }, name)),
    isPlace ? '' : el('span', { 'aria-current': 'page', class: 'crumb' }, page.title));
  replace(find('main'), page.node);
  start();
}

async function begin() {
  const token = /^#token=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (token) {
    history.replaceState(null, '', location.pathname); // out of the address bar and the history
    try {
      await logIn(token);
    } catch (error) {
      if (!hasKey()) return showLogin(error.message);
    }
  }
  return hasKey() ? open() : showLogin();
}

session.ended = () => showLogin('You are not logged in, or the session has ended.');
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) return begin();
  if (location.hash === '#main') return undefined;
  find('notice').hidden = true;
  return hasKey() ? open() : showLogin();
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const act = page?.keys?.[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
begin();
