// Numbers, times and words for people.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(count) {
  let unit = 0;
  let value = Number(count) || 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function count(number) {
  return Number(number ?? 0).toLocaleString('en');
}

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60 ? `${s % 60} s` : ''}`.trim();
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

const two = (number) => String(number).padStart(2, '0');

export function clock(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return '';
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export function moment(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return '';
  const today = new Date().toDateString() === time.toDateString();
  return today ? clock(text) : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(text)}`;
}

// The pattern for the host of an ask and everything below it. A port that the policy does not list
// has to be named.
export function below(ask) {
  if (ask.reason !== 'port-not-allowed') return `.${ask.host}`;
  return `${ask.scheme === 'http' ? 'http://' : ''}.${ask.host}:${ask.port}`;
}

export const hostPort = (item) => (item.port ? `${item.host}:${item.port}` : item.host ?? '');
