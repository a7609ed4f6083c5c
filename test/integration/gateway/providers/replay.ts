/** Plays a fixture: a client calls the gateway, which calls a provider that answers as it did. */
import type { Test } from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import type { Behaviour, Chunking, RecordedRequest } from '../../../support/scripted-provider.ts';
import type { Fixture } from './fixture.ts';
import { operatorKey, type World } from './world.ts';

/** A stream cut without regard to its events. */
const PIECES: Chunking = { bytesEach: 17 };

/** Headers about the provider's host, which are not passed on. */
const NOT_PASSED_ON = new Set(['set-cookie', 'alt-svc', 'strict-transport-security']);
const KEY_HEADERS = ['authorization', 'api-key', 'x-api-key'];

type Answered = { status: number; headers: Headers; bytes: Buffer };

/** Plays a fixture; a stream a second time, in pieces. */
export async function replay(t: Test, fixture: Fixture, world: World): Promise<void> {
  await play(t, fixture, world, answerOf(fixture));
  if (!('events' in fixture.answer.body)) return;
  await t.test('a stream of the fixture that arrives in pieces is relayed alike', (t) =>
    play(t, fixture, world, { ...answerOf(fixture), chunking: PIECES }),
  );
}

async function play(t: Test, fixture: Fixture, world: World, answer: Behaviour): Promise<void> {
  world.provider.script(() => answer);
  const { answered, requests, record } = await call(fixture, world);
  t.equal(requests.length, 1, 'the provider is called once');
  checkSent(t, fixture, requests[0]!);
  checkAnswer(t, fixture, answered);
  checkRecord(t, fixture, record);
}

async function call({ call: { path, headers, body } }: Fixture, { gateway, provider }: World) {
  const before = provider.requests.length;
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const requests = provider.requests.slice(before);
  // What is refused before a provider is called has no record.
  if (requests.length === 0) throw new Error(`The provider was not called: ${bytes.toString()}`);
  const answered: Answered = { status: answer.status, headers: answer.headers, bytes };
  return { answered, requests, record: (await gateway.record(answer)) as unknown as JsonObject };
}

/** What the scripted provider does. */
export function answerOf({ answer }: Fixture): Behaviour & { kind: 'bytes' } {
  const body = Buffer.concat(framesOf(answer.body));
  const { status, headers, ending } = answer;
  return { kind: 'bytes', status, headers, body, ...(ending !== undefined && { ending }) };
}

/** The body in the parts that can be hidden from a client. */
function framesOf(body: Fixture['answer']['body']): Buffer[] {
  if ('json' in body) return [Buffer.from(JSON.stringify(body.json))];
  if ('text' in body) return [Buffer.from(body.text)];
  return body.events.map((event) => {
    if (typeof event === 'string') return Buffer.from(event);
    const name = body.named === true ? `event: ${event.type}\n` : '';
    return Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`);
  });
}

function checkSent(t: Test, { provider, call, sent }: Fixture, request: RecordedRequest): void {
  const url = new URL(sent.url);
  t.equal(request.path, url.pathname + url.search);
  const { baseUrl } = PROVIDERS[provider];
  if (baseUrl !== null) t.equal(new URL(baseUrl).origin, url.origin);
  for (const [name, value] of Object.entries(sent.headers)) {
    t.equal(request.headers[name], value.replace('<key>', operatorKey(provider)), `the header ${name}`);
  }
  for (const name of KEY_HEADERS) {
    if (!(name in sent.headers)) t.equal(request.headers[name], undefined, `no header ${name}`);
  }
  const body: JsonObject = { ...call.body, ...sent.sets };
  for (const name of sent.drops ?? []) delete body[name];
  t.equal(request.body.toString(), JSON.stringify(body), 'the body');
}

function checkAnswer(t: Test, { answer, client }: Fixture, answered: Answered): void {
  t.equal(answered.status, answer.status);
  for (const [name, value] of Object.entries(answer.headers)) {
    t.equal(answered.headers.get(name), NOT_PASSED_ON.has(name) ? null : value, `the header ${name}`);
  }
  const frames = framesOf(answer.body).filter((_, index) => client?.hides?.includes(index) !== true);
  const expected = Buffer.concat(frames).toString();
  const got = answered.bytes.toString();
  if (client?.breaksOff === undefined) {
    t.equal(got, expected, 'not a byte has changed');
    return;
  }
  t.equal(got.slice(0, expected.length), expected, 'not a byte has changed before it breaks off');
  const last = got.slice(expected.length);
  t.match(last, /^(?:event: error\n)?data: \{.*\}\n\n$/, 'one more event');
  t.ok(last.includes(`"${client.breaksOff}"`), last);
}

function checkRecord(t: Test, { record: expected, response = {} }: Fixture, record: JsonObject): void {
  for (const [column, value] of Object.entries(expected)) {
    const stored = record[column];
    // Postgres' bigint comes as text.
    const known = column === 'cost_nano' && typeof stored === 'string' ? Number(stored) : stored;
    t.equal(known, value, `the record's ${column}`);
  }
  const body: unknown = JSON.parse(String(record.response_text));
  for (const [place, value] of Object.entries(response)) {
    t.strictSame(valueAt(body, place) ?? null, value, `the record's response at ${place}`);
  }
}

function valueAt(body: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], body);
}
