// The client of the A2A project against one worker: WAY URL TOKEN. Prints what it saw as JSON.
import { randomUUID } from 'node:crypto';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';

const [, , way, url, token] = process.argv;
const STATES = ['UNSPECIFIED', 'SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'];
const withToken = (given) => (input, init = {}) => fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${given}` } });

function factory(given) {
  const legacyCompat = { enabled: way === '0.3' };
  const options = { fetchImpl: withToken(given), legacyCompat };
  const transports = way === 'HTTP+JSON' ? [new RestTransportFactory(options)] : [new JsonRpcTransportFactory(options)];
  // The card is read without a token.
  return new ClientFactory({ transports, cardResolver: new DefaultAgentCardResolver({ legacyCompat }) });
}
const path = way === '0.3' ? '.well-known/agent.json' : undefined;
const client = await factory(token).createFromUrl(url, path);

const request = (text) => ({
  tenant: '',
  message: {
    messageId: randomUUID(), contextId: '', taskId: '', role: 1, extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: 'text/plain' }],
  },
});
const words = (artifact) => artifact.parts.map((part) => part.content.value).join('');
const name = (state) => `TASK_STATE_${STATES[state]}`;
const problem = async (action) => {
  try {
    await action();
    return 'none';
  } catch (error) {
    return error.cause?.name?.endsWith('Error') && error.name === 'Error' ? error.cause.name : error.name;
  }
};

const seen = { card: (await client.getAgentCard()).name };
const task = await client.sendMessage(request('echo from the task'));
seen.state = name(task.status.state);
seen.text = task.artifacts.map(words).join('');
const again = await client.getTask({ id: task.id, tenant: '' });
if (again.id !== task.id || again.artifacts.map(words).join('') !== seen.text) throw new Error('another task');

seen.kinds = [];
seen.streamed = '';
for await (const event of client.sendMessageStream(request('echo one; read -t 1 x; echo two'))) {
  seen.kinds.push(event.payload.$case);
  if (event.payload.$case === 'artifactUpdate') seen.streamed += words(event.payload.value.artifact);
}

// A stream of another client hears of the end that this one brings about.
let running = '';
for await (const event of client.sendMessageStream(request('echo begun; sleep infinity'))) {
  if (event.payload.$case === 'task') running = event.payload.value.id;
  if (event.payload.$case === 'artifactUpdate') break;
}
const events = client.resubscribeTask({ id: running, tenant: '' })[Symbol.asyncIterator]();
let last = (await events.next()).value.payload.value.status.state;
seen.canceled = name((await client.cancelTask({ id: running, tenant: '' })).status.state);
for (let next = await events.next(); !next.done; next = await events.next()) last = next.value.payload.value.status?.state ?? last;
if (name(last) !== seen.canceled) throw new Error(`the stream ended with ${name(last)}`);

seen.notFound = await problem(() => client.getTask({ id: '1-1', tenant: '' }));
if (way !== '0.3') {
  seen.listed = (await client.listTasks({ tenant: '', contextId: '', pageToken: '', status: 0 })).totalSize;
  seen.push = await problem(() => client.deleteTaskPushNotificationConfig({ taskId: running, id: 'x', tenant: '' }));
}
const stranger = await factory('0'.repeat(64)).createFromUrl(url, path);
seen.refused = await problem(() => stranger.getTask({ id: task.id, tenant: '' })) === 'none' ? 'let in' : 'refused';
console.log(JSON.stringify(seen));
