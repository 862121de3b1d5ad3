// Elements from values. Text is always a text node, so that nothing an agent sends becomes markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'text') node.textContent = value;
    else if (key === 'value') node.value = value;
    else node.setAttribute(key, value === true ? '' : value);
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const el = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

// Replaces the children only if `key` differs from the last call: what is under the pointer or has
// the focus stays.
export function update(node, key, make) {
  if (node.stileKey === key) return;
  node.stileKey = key;
  replace(node, make());
}

export function section(title, ...children) {
  const heading = el('h2', null, title);
  return el('section', { class: 'panel' }, heading, ...children);
}
