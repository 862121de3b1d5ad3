// What a browser without a session sees.
import { el } from './dom.js';

export function loginPage(problem) {
  return el('section', { class: 'panel login' },
    el('h1', null, 'Log in'),
    problem ? el('p', { class: 'problem', role: 'alert' }, problem) : null,
    el('p', null, 'Run this on the machine where Stile runs, and open the link that it prints:'),
    el('pre', null, el('code', null, 'stile web')),
    el('p', { class: 'quiet' }, 'The link works once. This browser then stays logged in for twelve hours.'));
}
