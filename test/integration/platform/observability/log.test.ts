import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const MODULE = new URL('../../../../platform/observability/log.ts', import.meta.url).href;

/** Returns the lines on stderr of a process that runs this logging code. */
function logged(directory: string, statements: string): Record<string, unknown>[] {
  const program = join(directory, 'program.mjs');
  writeFileSync(
    program,
    `import { createLogger } from ${JSON.stringify(MODULE)};
     const log = createLogger({ role: 'gateway', level: 'info' });
     ${statements}
     process.exit(0);`,
  );
  const output = execFileSync('sh', ['-c', `"${process.execPath}" "${program}" 2>&1 >/dev/null`], {
    encoding: 'utf8',
  });
  return output
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

t.test('a log line is JSON on stderr with role and time, written before the process ends', async (t) => {
  const [line] = logged(t.testdir(), "log.info({ port: 1 }, 'serves');");
  t.match(line, { role: 'gateway', port: 1, msg: 'serves', level: 30, time: /^\d{4}-\d\d-\d\dT.*Z$/ });
});

t.test('secrets at any place of a log object are not written', async (t) => {
  const secrets = `
    log.info({ authorization: 'Bearer hush' }, 'a');
    log.info({ headers: { authorization: 'Bearer hush', 'x-api-key': 'hush', 'service-auth': 'hush' } }, 'b');
    log.info({ config: { databaseUrl: 'postgres://u:hush@h/d', bootstrapApiKey: 'hush' } }, 'c');
    log.info({ apiKey: 'hush', provider: { apiKey: 'hush', 'api-key': 'hush' }, password: 'hush' }, 'd');`;
  const lines = logged(t.testdir(), secrets);
  t.equal(lines.length, 4);
  t.notMatch(JSON.stringify(lines), /hush/);
});

t.test('an error is logged with its cause', async (t) => {
  const [line] = logged(
    t.testdir(),
    "log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');",
  );
  t.match(JSON.stringify(line), /outer.*inner/);
});

t.test('a process continues when its log is on a full disk', async (t) => {
  const program = join(t.testdir(), 'program.mjs');
  writeFileSync(
    program,
    `import { createLogger } from ${JSON.stringify(MODULE)};
     const log = createLogger({ role: 'gateway', level: 'info' });
     for (let line = 0; line < 2_000; line += 1) log.info('y'.repeat(100));
     process.stdout.write('alive');`,
  );
  const command = `"${process.execPath}" "${program}" 2>/dev/full`;
  t.equal(execFileSync('sh', ['-c', command], { encoding: 'utf8' }), 'alive');
});
