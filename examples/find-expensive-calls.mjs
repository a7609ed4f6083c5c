// Lists all calls of the last day that cost more than an amount, dearest first: a query in text, an order, and all pages.
//
// Run:    KEY=sk-assay-… node examples/find-expensive-calls.mjs 0.01
// Prints: cost in USD, time, model, user and id of each call, then their number and their sum
const { KEY, API = 'http://127.0.0.1:8585' } = process.env;
const moreThanUsd = Number(process.argv[2] ?? 0);
const LIMIT = 100;

// Calls that are logged from now on would shift the pages, so the range has an end.
const now = Date.now();
const q = `cost:>${moreThanUsd} created:${now - 24 * 60 * 60 * 1000}..${now}`;

let count = 0;
let sumUsd = 0;
for (let offset = 0; ; offset += LIMIT) {
  const response = await fetch(`${API}/v1/request/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ q, sort: { cost: 'desc' }, limit: LIMIT, offset }),
  });
  const { data, error } = await response.json();
  if (error !== null) throw new Error(error);
  for (const { cost, request_created_at, model, request_user_id, request_id } of data) {
    console.log(cost.toFixed(6), request_created_at, model, request_user_id, request_id);
    count += 1;
    sumUsd += cost;
  }
  if (data.length < LIMIT) break;
}
console.log(`${count} calls, ${sumUsd.toFixed(6)} USD`);
