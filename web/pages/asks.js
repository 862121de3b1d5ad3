// The requests that wait for a person. A card never moves while the pointer is on the list.
import { el, replace } from './dom.js';
import { below, count, duration, hostPort } from './format.js';
import { post } from './api.js';

const CHOICES = [
  { name: 'Once', style: 'yes', fields: () => ({ verdict: 'allow', max_requests: 1, ttl_seconds: 600 }) },
  { name: '10 minutes', style: 'yes', fields: () => ({ verdict: 'allow', ttl_seconds: 600 }) },
  { name: '1 hour', style: 'yes', fields: () => ({ verdict: 'allow', ttl_seconds: 3600 }) },
  { name: '1 hour, and all below', style: 'yes', isWide: true, fields: (ask) => ({ verdict: 'allow', ttl_seconds: 3600, hosts: [below(ask)] }) },
  { name: 'Refuse', style: 'no', fields: () => ({ verdict: 'deny' }) },
];

function title(ask) {
  const method = ask.method && ask.method !== 'CONNECT' && ask.method !== 'TCP' ? `${ask.method} ` : '';
  return `${method}${hostPort(ask)}${ask.path ?? ''}`;
}

export class Asks {
  constructor(showProblem) {
    this.showProblem = showProblem;
    this.cards = new Map();
    this.list = el('div', { class: 'asks-list' });
    this.heading = el('h2', null, 'Waiting for you');
    this.node = el('section', { class: 'panel asks', 'aria-live': 'polite', hidden: true }, this.heading, this.list);
    this.node.addEventListener('mouseleave', () => this.sweep());
  }

  show({ available, asks }) {
    const now = new Map((available ? asks : []).map((ask) => [ask.id, ask]));
    for (const [id, card] of this.cards) {
      if (!now.has(id) && !card.isGone) this.leave(card, card.answer ?? 'No longer waiting');
    }
    for (const [id, ask] of now) {
      if (!this.cards.has(id)) this.add(ask);
      this.fill(this.cards.get(id), ask);
    }
    this.heading.textContent = now.size === 1 ? 'One request waits for you' : `${now.size} requests wait for you`;
    if (!this.node.matches(':hover')) this.sweep();
    this.node.hidden = this.cards.size === 0;
  }

  sweep() {
    for (const [id, card] of this.cards) {
      if (!card.isGone) continue;
      card.node.remove();
      this.cards.delete(id);
    }
    this.node.hidden = this.cards.size === 0;
  }

  leave(card, words) {
    card.isGone = true;
    card.node.classList.add('gone');
    replace(card.buttons, el('span', { class: 'answered' }, words));
  }

  add(ask) {
    const card = { what: el('p', { class: 'ask-what' }), meta: el('p', { class: 'ask-meta' }), buttons: el('div', { class: 'buttons' }) };
    // An ask about one method and path is about that host alone.
    const isNarrow = ['method-not-allowed', 'path-not-allowed'].includes(ask.reason);
    for (const choice of CHOICES.filter((one) => !(one.isWide && isNarrow))) {
      const words = choice.style === 'no' ? 'Refuse' : `Allow: ${choice.name}`;
      card.buttons.append(el('button', {
        type: 'button', class: choice.style, 'aria-label': `${words}, ${ask.agent} to ${hostPort(ask)}`,
        onclick: () => this.answer(card, ask, choice),
      }, choice.name));
    }
    card.node = el('article', { class: 'ask', 'data-ask': ask.id }, el('div', null, card.what, card.meta), card.buttons);
    this.cards.set(ask.id, card);
    this.list.append(card.node);
  }

  fill(card, ask) {
    if (card.isGone) return;
    replace(card.what, el('a', { href: `#/agent/${encodeURIComponent(ask.agent)}` }, ask.agent), ' wants ', el('strong', null, title(ask)));
    const words = [];
    if (ask.held > 0) words.push(ask.held === 1 ? 'one request is held' : `${count(ask.held)} requests are held`);
    if (ask.count > 1) words.push(`asked ${count(ask.count)} times`);
    if (ask.expires) words.push(`expires in ${duration((new Date(ask.expires) - Date.now()) / 1000)}`);
    replace(card.meta, words.join(' · '),
      ask.looks_like ? el('strong', { class: 'problem' }, ` Looks like ${ask.looks_like}, and is not. `) : '',
      ask.agent_reason ? el('span', { class: 'untrusted', title: 'The agent wrote this' }, ` The agent says: “${ask.agent_reason}”`) : '');
  }

  async answer(card, ask, choice) {
    for (const button of card.buttons.querySelectorAll('button')) button.disabled = true;
    try {
      await post(`asks/${encodeURIComponent(ask.id)}/answer`, choice.fields(ask));
      card.answer = choice.style === 'no' ? 'Refused' : `Allowed: ${choice.name}`;
      this.leave(card, card.answer);
    } catch (error) {
      this.showProblem(error.message);
      for (const button of card.buttons.querySelectorAll('button')) button.disabled = false;
    }
  }
}
