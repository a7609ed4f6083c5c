// Rates an answer: the request id in the response's header takes feedback, a score and a property.
//
// Run:    KEY=sk-assay-… node examples/rate-an-answer.mjs
// Prints: the request id, then the rating, the scores and the properties of its record
const { KEY, GATEWAY = 'http://127.0.0.1:8787', API = 'http://127.0.0.1:8585' } = process.env;
const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };

const completion = await fetch(`${GATEWAY}/v1/chat/completions`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
});
if (!completion.ok) throw new Error(await completion.text());
const id = completion.headers.get('service-request-id');
console.log(id);

async function call(method, path, body) {
  const response = await fetch(API + path, { method, headers, body: JSON.stringify(body) });
  const { data, error } = await response.json();
  if (error !== null) throw new Error(error);
  return data;
}

await call('POST', `/v1/request/${id}/feedback`, { rating: true });
await call('POST', `/v1/request/${id}/score`, { scores: { accuracy: 0.9, polite: true } });
await call('PUT', `/v1/request/${id}/property`, { key: 'Reviewed-By', value: 'ada' });

const { feedback_rating, scores, properties } = await call('GET', `/v1/request/${id}`);
console.log(feedback_rating, scores, properties);
