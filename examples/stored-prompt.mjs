// Keeps a prompt outside of the program: calls name it and send its variables, and a new version goes live for all.
//
// Run:    KEY=sk-assay-… node examples/stored-prompt.mjs
// Prints: the text that the provider was sent with the first version, and with the second
const { KEY, GATEWAY = 'http://127.0.0.1:8787', API = 'http://127.0.0.1:8585' } = process.env;
const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };

async function api(method, path, body) {
  const response = await fetch(API + path, { method, headers, body: body && JSON.stringify(body) });
  const { data, error } = await response.json();
  if (error !== null) throw new Error(error);
  return data;
}
const bodyWith = (content) => ({ model: 'gpt-4o-mini', messages: [{ role: 'system', content }] });

async function ask() {
  const inputs = { company: 'Acme', sentences: 3 };
  const messages = [{ role: 'user', content: 'Where is my parcel?' }];
  const body = JSON.stringify({ prompt_id: id, inputs, messages });
  const response = await fetch(`${GATEWAY}/v1/chat/completions`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(await response.text());
  const record = await api('GET', `/v1/request/${response.headers.get('service-request-id')}`);
  console.log(record.prompt_version, record.request_body.messages[0].content);
}

const first = bodyWith('You help customers of {{company}}.');
const name = `Support ${crypto.randomUUID()}`;
const { id, versionId } = await api('POST', '/v1/prompt-2025', {
  name,
  tags: ['example'],
  promptBody: first,
});
await ask();

const promptBody = bodyWith('You help customers of {{company}} in {{sentences:number}} sentences.');
const change = { promptId: id, promptVersionId: versionId, commitMessage: 'Shorter', promptBody };
await api('POST', '/v1/prompt-2025/update', { ...change, environment: 'production' });
await new Promise((resolve) => setTimeout(resolve, 1_000)); // within a second every gateway has it
await ask();
await api('DELETE', `/v1/prompt-2025/${id}`);
