// Requests to this server, and its stream of events.

const KEY = 'stile-csrf';

export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// Called when the session has ended.
export const session = { ended: () => {} };

const headers = () => ({ 'X-Stile-CSRF': localStorage.getItem(KEY) ?? '' });

async function answerOf(response) {
  const answer = await response.json().catch(() => ({ ok: false, error: { code: 'no-answer', message: response.statusText } }));
  if (response.status === 401) session.ended();
  if (answer.ok === false) throw new ApiError(answer.error.code, answer.error.message);
  return answer;
}

export async function post(path, body) {
  const response = await fetch(`/api/v1/${path}`, {
    method: 'POST',
    headers: { ...headers(), 'Content-Type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });
  return answerOf(response);
}

export async function get(path) {
  return answerOf(await fetch(`/api/v1/${path}`, { headers: headers() }));
}

export async function logIn(token) {
  const answer = await post('login', { token });
  localStorage.setItem(KEY, answer.csrf);
}

export async function logOut() {
  await post('logout').catch(() => {});
  localStorage.removeItem(KEY);
  session.ended();
}

export const hasKey = () => localStorage.getItem(KEY) !== null;

// Splits the text of a stream into events.
export function makeParser(onEvent) {
  let rest = '';
  return (text) => {
    rest += text;
    const frames = rest.split('\n\n');
    rest = frames.pop();
    for (const frame of frames) {
      let name = 'message';
      const data = [];
      for (const line of frame.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7);
        else if (line.startsWith('data: ')) data.push(line.slice(6));
      }
      if (data.length > 0) onEvent(name, JSON.parse(data.join('\n')));
    }
  };
}

// EventSource cannot send a header, so this reads the stream itself. Calls `onEvent(name, value)`,
// and `onState(isConnected)`; connects again until it is closed. Returns the function that closes it.
export function follow(query, onEvent, onState) {
  const control = new AbortController();
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  let pause = 500;

  async function once() {
    const response = await fetch(`/api/v1/events?${parameters}`, { headers: headers(), signal: control.signal });
    if (!response.ok) await answerOf(response);
    onState(true);
    pause = 500;
    const parse = makeParser(onEvent);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parse(value);
    }
  }

  (async () => {
    while (!control.signal.aborted) {
      try {
        await once();
      } catch (error) {
        if (control.signal.aborted || error.code === 'no-session' || error.code === 'no-csrf') {
          if (!control.signal.aborted) session.ended();
          return;
        }
      }
      if (control.signal.aborted) return;
      onState(false);
      await new Promise((resolve) => { setTimeout(resolve, pause); });
      pause = Math.min(pause * 2, 10000);
    }
  })();
  return () => control.abort();
}
