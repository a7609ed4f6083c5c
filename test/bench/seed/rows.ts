/**
 * The records of a seeded organization. The n-th one depends on the seed and on n alone, so that each table can be written
 * by itself and a benchmark can name a record without reading it.
 */
import { ulid } from 'ulid';
import { hashProperty } from '#core/contracts/properties.ts';
import { seededRandom } from '../../support/random.ts';

const DAY_MS = 86_400_000;
const NANO_PER_CENT = 1e7;

/** Five providers of five models each: the median of the latency in ms, and USD for a million tokens in and out. */
const MODELS = Object.entries({
  OPENAI: ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1', 'gpt-4.1-mini', 'o4-mini'],
  ANTHROPIC: ['claude-sonnet-4', 'claude-haiku-4', 'claude-opus-4', 'claude-sonnet-3-7', 'claude-haiku-3-5'],
  GOOGLE: [
    'gemini-2.5-flash',
    'gemini-2.5-pro',
    'gemini-2.0-flash',
    'gemini-2.5-flash-lite',
    'gemini-1.5-pro',
  ],
  MISTRAL: ['mistral-large', 'mistral-small', 'mistral-medium', 'codestral', 'ministral-8b'],
  XAI: ['grok-4', 'grok-4-fast', 'grok-3', 'grok-3-mini', 'grok-code-fast'],
}).flatMap(([provider, models], family) =>
  models.map((name, index) => ({
    provider,
    name,
    medianMs: 600 + 250 * ((index * 3 + family) % 7),
    inputUsd: 0.15 * (1 + ((index * 5 + family * 2) % 11)),
    outputUsd: 0.6 * (1 + ((index * 7 + family) % 13)),
  })),
);

const PLANS = ['free', 'pro', 'enterprise'];
const REGIONS = ['eu-1', 'eu-2', 'us-1', 'us-2', 'ap-1', 'ap-2', 'sa-1', 'af-1'];
const USERS = 50_000;
/** Values of the property Feature. */
const FEATURES = 1_000;
const PROMPTS = 50;
/** So many consecutive records share a session, half of them. */
const SESSION_SPAN = 40;
const QUESTIONS = [
  'How do I reset the password of account',
  'Summarize the ticket',
  'Translate the text of page',
  'What changed in order',
];
const ANSWERS = [
  'Open the settings, choose Security and follow the link for',
  'The customer asks for a refund of',
  'Here is the text of',
  'These lines changed in',
];

export type SeedOptions = {
  organizationId: string;
  apiKeyIds: readonly string[];
  seed: number;
  requests: number;
  days: number;
  /** The end of the span of time, in milliseconds since the epoch. */
  endMs: number;
};

/** The n-th record, as far as more than one table has to know. */
export type SeededRecord = {
  createdAtMs: number;
  createdAt: string;
  requestId: string;
  random: () => number;
};

/** What the seed's organization has for each of its properties, by name as it was sent. */
type SeededProperties = { Plan: string; Feature: string; Region?: string };

/** Makes the records of one seed. */
export class SeededRecords {
  readonly options: SeedOptions;
  readonly #startMs: number;
  readonly #stepMs: number;

  constructor(options: SeedOptions) {
    this.options = options;
    this.#startMs = options.endMs - options.days * DAY_MS;
    this.#stepMs = (options.days * DAY_MS) / options.requests;
  }

  /** Returns the time and the id of the record at `index`; times rise with the index. */
  at(index: number): SeededRecord {
    const random = seededRandom(Math.imul(index, 0x9e37_79b1) ^ this.options.seed);
    const createdAtMs = Math.floor(this.#startMs + (index + random()) * this.#stepMs);
    const requestId = ulid(createdAtMs, random);
    return { createdAtMs, createdAt: new Date(createdAtMs).toISOString(), requestId, random };
  }

  /** Returns the first index whose record was made at `ms` or later. */
  firstAt(ms: number): number {
    let index = Math.max(0, Math.floor((ms - this.#startMs) / this.#stepMs) - 1);
    while (index < this.options.requests && this.at(index).createdAtMs < ms) index += 1;
    return Math.min(index, this.options.requests);
  }

  get startMs(): number {
    return this.#startMs;
  }
}

/** Returns the properties of a record; to be asked right after `at`. */
function propertiesOf(random: () => number): SeededProperties {
  const properties: SeededProperties = {
    Plan: PLANS[Math.floor(random() * PLANS.length)]!,
    Feature: `feature-${Math.floor(FEATURES * random() ** 2)}`,
  };
  const region = random();
  return region < 1 / 3 ? { ...properties, Region: REGIONS[Math.floor(region * 24)]! } : properties;
}

/** Returns a number of the standard normal distribution. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function statusOf(chance: number): number {
  if (chance < 0.96) return 200;
  if (chance < 0.98) return 429;
  if (chance < 0.99) return 500;
  return chance < 0.996 ? 400 : 503;
}

/** A row's fields as COPY takes them; null is `\N`. */
type Field = string | number | boolean | null;

/** Writes a row of COPY's text format. The seed's texts hold nothing that needs escaping but the backslash of JSON. */
function line(fields: readonly Field[]): string {
  return `${fields.map((field) => (field === null ? '\\N' : String(field))).join('\t')}\n`;
}

/** A table's columns, and its rows for a record. */
export type SeedTable = {
  name: string;
  columns: string;
  rowsOf(record: SeededRecord, index: number): string;
};

const KEY = 'organization_id, created_at, request_id';

/** Returns the tables of records, each with a function that writes its rows. */
export function seedTables(records: SeededRecords): SeedTable[] {
  const { organizationId, requests } = records.options;
  const key = ({ createdAt, requestId }: SeededRecord) => [organizationId, createdAt, requestId];
  return [
    {
      name: 'requests',
      columns: `${KEY}, source, api_key_id, path, provider, request_model, response_model, model, response_id,
        response_created_at, status, latency_ms, ttft_ms, prompt_tokens, completion_tokens, total_tokens, cost_nano,
        user_id, session_id, session_name, session_path, prompt_id, prompt_version, experiment_id, cached_from,
        request_properties, properties_folded, is_stream, truncated, feedback_rating, feedback_created_at,
        preview_in, preview_out`,
      rowsOf: (record, index) => line([...key(record), ...requestFields(records, record, index)]),
    },
    {
      // Bodies of a tenth, and of the newest: lists never read them, and all of them would take most of the disk.
      name: 'request_bodies',
      columns: `${KEY}, request_text, response_text`,
      rowsOf: (record, index) =>
        index % 10 === 0 || index >= requests - 100_000 ? line([...key(record), ...bodyFields(index)]) : '',
    },
    {
      name: 'request_properties',
      columns: `${KEY}, pair_hash`,
      rowsOf: (record) =>
        Object.entries(propertiesOf(record.random))
          .map(([name, value]) => line([...key(record), hashOf(name, value)]))
          .join(''),
    },
    {
      name: 'request_scores',
      columns: `${KEY}, key, value, updated_at`,
      rowsOf: (record, index) =>
        scoresOf(index)
          .map(([name, value]) => line([...key(record), name, value, record.createdAt]))
          .join(''),
    },
  ];
}

const hashes = new Map<string, string>();

function hashOf(name: string, value: string): string {
  const pair = `${name} ${value}`;
  let hash = hashes.get(pair);
  if (hash === undefined) {
    hash = hashProperty(name.toLowerCase(), value).toString();
    hashes.set(pair, hash);
  }
  return hash;
}

function scoresOf(index: number): [string, number][] {
  if (index % 5 !== 0) return [];
  const scores: [string, number][] = [['helpfulness', (index % 101) / 100]];
  if (index % 20 === 0) scores.push(['accuracy', (index % 11) / 10]);
  return scores;
}

const question = (index: number) =>
  `${QUESTIONS[index % QUESTIONS.length]} ${index}, please, and keep it short`;
const answer = (index: number) =>
  `${ANSWERS[index % ANSWERS.length]} ${index}. Anything else that I can do for you today?`;

function bodyFields(index: number): Field[] {
  return [
    `{"messages":[{"role":"user","content":"${question(index)}"}]}`,
    `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"${answer(index)}"},"finish_reason":"stop"}]}`,
  ];
}

/** Tokens and cost are of the answered ones; cached answers cost nothing. */
function usageFields(
  random: () => number,
  { isAnswered, isCached, model }: { isAnswered: boolean; isCached: boolean; model: (typeof MODELS)[number] },
): Field[] {
  const prompt = Math.round(Math.exp(6 + normal(random)));
  const completion = Math.round(Math.exp(5 + 0.9 * normal(random)));
  const isPriced = random() < 0.98;
  if (!isAnswered) return [null, null, null, null];
  const usd = (prompt * model.inputUsd + completion * model.outputUsd) / 1e6;
  const nano = isCached ? 0 : Math.round(usd * 100 * NANO_PER_CENT);
  return [prompt, completion, prompt + completion, isPriced ? nano : null];
}

function requestFields(records: SeededRecords, record: SeededRecord, index: number): Field[] {
  const { random, createdAtMs } = record;
  const properties = propertiesOf(random);
  const model = MODELS[Math.floor(MODELS.length * random() ** 1.7)]!;
  const origin = random();
  const source = origin < 0.93 ? 'gateway' : origin < 0.98 ? 'api' : 'evaluator';
  const status = statusOf(random());
  const isAnswered = status === 200;
  const isCached = isAnswered && index > 0 && random() < 0.05;
  const isStream = random() < 0.6;
  const latencyMs = isCached ? 3 : Math.round(model.medianMs * Math.exp(0.8 * normal(random)));
  const usage = usageFields(random, { isAnswered, isCached, model });
  const user = random();
  const session = index % 2 === 0 ? Math.floor(index / SESSION_SPAN) : null;
  const prompt = random();
  const rated = random();
  const { apiKeyIds } = records.options;
  return [
    source,
    apiKeyIds[index % apiKeyIds.length]!,
    '/v1/chat/completions',
    model.provider,
    model.name,
    isAnswered ? `${model.name}-2026-01-01` : null,
    isAnswered ? `${model.name}-2026-01-01` : model.name,
    isAnswered ? `chatcmpl-${index}` : null,
    new Date(createdAtMs + latencyMs).toISOString(),
    status,
    latencyMs,
    isStream && isAnswered ? Math.round(latencyMs * (0.1 + 0.3 * random())) : null,
    ...usage,
    user < 0.9 ? `user-${Math.floor(USERS * (user / 0.9) ** 3)}` : null,
    session === null ? null : `session-${session}`,
    session === null ? null : `session name ${session % 500}`,
    session === null ? null : `/agent/step ${index % 7}`,
    prompt < 0.3 ? `prompt-${Math.floor((prompt / 0.3) * PROMPTS)}` : null,
    prompt < 0.3 ? `1.${index % 4}` : null,
    index % 1_000 === 7 ? 'experiment-1' : null,
    isCached ? records.at(index - 1).requestId : null,
    JSON.stringify(properties),
    JSON.stringify(properties).replace(
      /"(\w)(\w+)":/g,
      (_, first: string, rest: string) => `"${first.toLowerCase()}${rest}":`,
    ),
    isStream,
    isAnswered && index % 500 === 3,
    rated < 0.03 ? rated < 0.02 : null,
    rated < 0.03 ? new Date(createdAtMs + 60_000).toISOString() : null,
    question(index),
    isAnswered ? answer(index) : null,
  ];
}
