// A model judges answers: makes an evaluator, attaches it to calls with one property, and waits for its score.
//
// Run:    KEY=sk-assay-… node examples/judge.mjs
// Prints: the score (1: polite, 0: not) and the judge's reasoning, or why there is none
// Leaves: the score. The evaluator is deleted, so that the example can be run again.
import { setTimeout as sleep } from 'node:timers/promises';

const { KEY, GATEWAY = 'http://127.0.0.1:8787', API = 'http://127.0.0.1:8585' } = process.env;

async function call(method, url, body, more) {
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...more };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return { answer: await response.json(), requestId: response.headers.get('service-request-id') };
}

const { answer: made } = await call('POST', `${API}/v1/evaluator`, {
  name: 'Polite (example)',
  scoring_type: 'LLM-BOOLEAN',
  llm_template: { model: 'gpt-4o-mini', prompt: 'Is {{output}} a polite answer to {{input}}?' },
});
const evaluator = `${API}/v1/evaluator/${made.data.id}`;
try {
  const propertyFilters = [{ key: 'Feature', value: 'judge-example' }];
  await call('POST', `${evaluator}/onlineEvaluators`, { config: { sampleRate: 100, propertyFilters } });

  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Where is my refund?' }] };
  const property = { 'Service-Property-Feature': 'judge-example' };
  const { requestId } = await call('POST', `${GATEWAY}/v1/chat/completions`, chat, property);
  let evaluation = { state: 'pending' };
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; await sleep(200)) {
    const ours = { requestId, evaluatorId: made.data.id };
    [evaluation = evaluation] = (await call('POST', `${API}/v1/evaluation/query`, ours)).answer.data;
    if (!['pending', 'running'].includes(evaluation.state)) break;
  }
  const { state, score, reasoning, waiting, error } = evaluation;
  console.log({ state, score, reasoning, waiting, error });
} finally {
  await call('DELETE', evaluator);
}
