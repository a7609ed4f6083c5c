// Groups the calls of one task as a session, and reads it as a conversation: of each turn only what is new.
//
// Run:    KEY=sk-assay-… node examples/follow-a-session.mjs
// Prints: the session's totals, then each turn with its place, the new messages and the answer
const { KEY, GATEWAY = 'http://127.0.0.1:8787', API = 'http://127.0.0.1:8585' } = process.env;
const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
const session = `trip-${crypto.randomUUID()}`;

async function read(path) {
  const { data, error } = await (await fetch(API + path, { headers })).json();
  if (error !== null) throw new Error(error);
  return data;
}

const messages = [];
for (const content of ['Plan a day in Oslo', 'And in the evening?']) {
  messages.push({ role: 'user', content });
  const names = {
    'Service-Session-Id': session,
    'Service-Session-Path': '/planner',
    'Service-Session-Name': 'Oslo',
  };
  const response = await fetch(`${GATEWAY}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, ...names },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  });
  if (!response.ok) throw new Error(await response.text());
  messages.push((await response.json()).choices[0].message);
  await read(`/v1/request/${response.headers.get('service-request-id')}`); // waits until it is stored
}

const { session_name, total_requests, total_tokens } = (await read(`/v1/session/${session}`)).session;
console.log(`${session_name}: ${total_requests} requests, ${total_tokens} tokens`);
for (const turn of (await read(`/v1/session/${session}/conversation`)).turns) {
  const asked = turn.messages.map(({ content }) => content).join(' ');
  console.log(`${turn.session_path} [${asked}] ${turn.answer.content.split('\n')[0]}`);
}
