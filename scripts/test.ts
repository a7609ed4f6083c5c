/**
 * `npm test`: one PostgreSQL server for all test files, and tap over them. Parameters go to tap: `npm test -- test/core`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '../test/support/postgres.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tap = join(root, 'node_modules', '.bin', 'tap');

/** tap builds itself anew when its list of plugins is not its default: once, after an install or a change of .taprc. */
function buildTap(): void {
  const digest = createHash('sha256');
  for (const file of ['.taprc', 'package-lock.json']) digest.update(readFileSync(join(root, file)));
  const wanted = digest.digest('hex');
  const stamp = join(root, '.tap', 'built');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const build = spawnSync(tap, ['build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (build.status !== 0) process.exit(1);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

function runTap(postgresUrl: string): Promise<number> {
  const child = spawn(tap, process.argv.slice(2), {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ASSAY_TEST_POSTGRES_URL: postgresUrl },
  });
  // Ctrl-C reaches tap too, which ends its tests; this process waits for it, to stop the server after them.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
  });
}

buildTap();
const server = await startTestServer();
try {
  process.exitCode = await runTap(server.url);
} finally {
  await server.stop();
}
