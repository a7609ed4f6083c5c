import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { exportCommand } from '../../../../../supervisor/commands/export/export.ts';
import { startTestApi, type TestApi } from '../../../../support/api.ts';
import { insertRequests } from '../../../../support/seed-requests.ts';
import { temporaryDirectory } from '../../../../support/world.ts';

let api: TestApi;
let directory: string;
const NOON = Date.UTC(2026, 4, 4, 12);
t.before(async () => {
  api = await startTestApi(t);
  directory = temporaryDirectory(t);
  const rows = Array.from({ length: 5 }, (_, index) => ({
    request_id: `id-${index}`,
    created_at: new Date(NOON + index),
    status: index === 4 ? 500 : 200,
    properties: { note: `line one\r\nline "${index}", =1` },
    request_text: JSON.stringify({ text: 'a\r\nb'.repeat(100) }),
  }));
  await insertRequests(api.database.sql, api.own.organizationId, rows);
});

/** Runs the command; returns what it printed and showed. */
async function run(options: string[], given: { url?: string; key?: string | null; isTTY?: boolean } = {}) {
  const printed: string[] = [];
  const shown: string[] = [];
  const { url = api.url, key = api.own.key, isTTY = false } = given;
  const command = exportCommand(() => ({
    url,
    key,
    clock: systemClock,
    progress: { isTTY, write: (text) => shown.push(text) },
    print: (line) => printed.push(line),
  }));
  await command.exitOverride().parseAsync(options, { from: 'user' });
  return { printed: printed.join('\n'), shown: shown.join('') };
}

async function exported(body: object): Promise<string> {
  const answer = await api.call('/v1/request/export', { body: { filter: 'all', format: 'ndjson', ...body } });
  return answer.text;
}

t.test('the command writes the records of a filter to a file', async (t) => {
  const out = join(directory, 'some.ndjson');
  const filter = { response: { status: { equals: 200 } } };
  const { printed, shown } = await run(['--out', out, '--filter', JSON.stringify(filter), '--bodies'], {
    isTTY: true,
  });
  t.equal(printed, `Exported 4 records to ${out}`);
  t.match(shown, /4 of 4 records \(100 %\)/);
  t.equal(readFileSync(out, 'utf8'), await exported({ filter, bodies: true }));
});

t.test('--query is the filter as text', async (t) => {
  const out = join(directory, 'queried.ndjson');
  const { printed, shown } = await run(['--out', out, '--query', 'status:200 -id:id-1'], { isTTY: true });
  t.equal(printed, `Exported 3 records to ${out}`);
  t.match(shown, /3 of 3 records \(100 %\)/);
  t.equal(readFileSync(out, 'utf8'), await exported({ filter: undefined, q: 'status:200 -id:id-1' }));
  await t.rejects(run(['--out', `${out}.2`, '--query', 'status:x']), {
    message: 'q at offset 7, length 1 ("x"): status must be a number, but is "x"',
  });
  await t.rejects(run(['--out', `${out}.2`, '--query', 'status:1', '--filter', 'all']), {
    message: "error: option '--query <text>' cannot be used with option '--filter <json>'",
  });
});

for (const format of ['ndjson', 'csv']) {
  t.test(`a ${format} file that was cut anywhere becomes whole with --resume`, async (t) => {
    const out = join(directory, `cut.${format}`);
    const options = ['--out', out, '--format', format, '--bodies', '--resume'];
    await run(options);
    const whole = readFileSync(out);
    t.equal(whole.toString(), await exported({ format, bodies: true }), 'without a file it begins one');
    const step = Math.floor(whole.length / 40);
    for (let length = 0; length < whole.length; length += step) {
      truncateSync(out, length);
      await run(options);
      t.ok(readFileSync(out).equals(whole), `cut after ${length} of ${whole.length} bytes`);
    }
    const { printed } = await run(options);
    t.equal(printed, `Exported 0 records to ${out}, behind 5 that were there`);
    t.ok(readFileSync(out).equals(whole));
  });
}

t.test('--after begins behind a record', async (t) => {
  const out = join(directory, 'after.ndjson');
  const after = { request_created_at: '2026-05-04T12:00:00.002Z', request_id: 'id-2' };
  await run(['--out', out, '--after', JSON.stringify(after)]);
  t.equal(readFileSync(out, 'utf8'), await exported({ after }));
});

t.test('the command says what is wrong, and touches no file then', async (t) => {
  const out = join(directory, 'kept.ndjson');
  writeFileSync(out, 'mine');
  await t.rejects(run(['--out', out]), {
    message: `${out} exists: add --resume to go on behind its last record, or choose another name`,
  });
  appendFileSync(out, '\nand more\n');
  await t.rejects(run(['--out', out, '--resume']), {
    message: 'The file is no export as ndjson: its last record has no id',
  });
  t.equal(readFileSync(out, 'utf8'), 'mine\nand more\n');
  const before = readdirSync(directory);
  const other = (name: string) => ['--out', join(directory, name)];
  await t.rejects(run(other('a'), { key: null }), {
    message: 'Set ASSAY_API_KEY to a key with the scope read',
  });
  await t.rejects(run(other('b'), { key: 'sk-wrong' }), { message: 'This API key is not valid' });
  await t.rejects(run([...other('c'), '--filter', '{']), { message: 'This is not JSON: {' });
  await t.rejects(run([...other('d'), '--filter', '{"request":{"x":{"equals":1}}}']), {
    message: /^filter\.request\.x is not a field/,
  });
  await t.rejects(run(other('e'), { url: 'http://127.0.0.1:1' }), {
    message: /^The API at http:\/\/127.0.0.1:1 cannot be reached: /,
  });
  t.strictSame(readdirSync(directory), before);
});

t.test('an export that is cut keeps its records, and the command says how to go on', async (t) => {
  const out = join(directory, 'broken.ndjson');
  const part = '{"request_id":"a"}\n{"half';
  const server = createServer(async (_, response) => {
    response.write(part);
    while (!existsSync(out) || readFileSync(out, 'utf8') !== part) await sleep(10);
    response.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await t.rejects(run(['--out', out], { url }), {
    message: /^The export was cut after 1 records .*: run it again with --resume$/,
  });
  t.equal(readFileSync(out, 'utf8'), part);
});
