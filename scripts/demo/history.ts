/**
 * A week of requests before the demo's own, so that its dashboard opens on more than a minute: logged as requests made elsewhere
 * (`POST /v1/log/request`), with days, nights and a bad hour. The same for every run, but for the time.
 */
import type { Api } from './api.ts';
import { MODELS, QUESTIONS, USERS } from './conversations.ts';

const DAYS = 7;
const REQUESTS = 420;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Requests that are logged at the same time. */
const CONCURRENCY = 16;
/** Two days ago, a provider failed for an hour. */
const OUTAGE = { fromMs: 2 * DAY_MS + 3 * HOUR_MS, toMs: 2 * DAY_MS + 2 * HOUR_MS };

type Logged = Record<string, unknown>;

/** Numbers in [0, 1) that look random and are the same for every run. */
function* numbers(): Generator<number, never> {
  let state = 20_261_123;
  while (true) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Twice as much is asked at noon as at midnight. */
function isAwake(agoMs: number, nowMs: number, chance: number): boolean {
  const hour = new Date(nowMs - agoMs).getUTCHours();
  return chance < 0.55 - 0.45 * Math.cos((hour / 24) * 2 * Math.PI);
}

function statusOf(agoMs: number, chance: number): number {
  if (agoMs < OUTAGE.fromMs && agoMs > OUTAGE.toMs) return chance < 0.7 ? 503 : 200;
  return chance < 0.015 ? 429 : chance < 0.02 ? 500 : 200;
}

/** A request of so long ago. `next` gives its chances. */
function requestOf(agoMs: number, nowMs: number, next: () => number): Logged {
  const question = QUESTIONS[Math.floor(next() * QUESTIONS.length)]!;
  const user = USERS[Math.floor(next() ** 2 * USERS.length)]!;
  const model = MODELS[Math.floor(next() * MODELS.length)]!;
  const status = statusOf(agoMs, next());
  const isOk = status === 200;
  const createdAt = nowMs - agoMs;
  const latencyMs = isOk ? Math.round(180 * Math.exp(1.6 * next() + next())) : Math.round(20 + 40 * next());
  // Some hundred tokens of instructions come with each question.
  const usage = {
    prompt_tokens: Math.round(150 + 900 * next() ** 3),
    completion_tokens: isOk ? Math.round(20 + 300 * next() ** 2) : 0,
  };
  const answer = {
    id: `chatcmpl-${createdAt}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: question.answer }, finish_reason: 'stop' }],
    usage,
  };
  const failure = { error: { message: 'The model is overloaded', type: 'server_error' } };
  return {
    provider: 'openai',
    model,
    request: {
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: question.question }] },
      created_at: new Date(createdAt).toISOString(),
    },
    response: {
      body: isOk ? answer : failure,
      status,
      created_at: new Date(createdAt + latencyMs).toISOString(),
    },
    ...(isOk ? { timing: { time_to_first_token: Math.round(latencyMs * (0.2 + 0.3 * next())) } } : {}),
    user_id: user.id,
    properties: { Plan: user.plan, Feature: question.feature },
    ...(isOk && next() < 0.6
      ? { scores: { helpfulness: Math.round(100 * (1 - 0.5 * next() ** 2)) / 100 } }
      : {}),
  };
}

/** Returns the requests, the oldest first. */
function history(nowMs: number): Logged[] {
  const chances = numbers();
  const next = () => chances.next().value;
  const ages: number[] = [];
  while (ages.length < REQUESTS) {
    const agoMs = HOUR_MS / 4 + next() * (DAYS * DAY_MS - HOUR_MS);
    if (isAwake(agoMs, nowMs, next())) ages.push(agoMs);
  }
  return ages.sort((one, other) => other - one).map((agoMs) => requestOf(agoMs, nowMs, next));
}

/** Logs them; returns how many there are. */
export async function logHistory(api: Api, nowMs: number): Promise<number> {
  const waiting = history(nowMs);
  const count = waiting.length;
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      await api.call('POST', '/v1/log/request', one);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return count;
}
