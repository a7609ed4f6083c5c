/**
 * `npm test`: runs tap with one PostgreSQL server for all test files, one cluster as the template of tests that start their
 * own server, and one cache of compiled code; prints the slowest files at the end. Parameters are tap's (files, patterns,
 * options), and folders: `npm test -- test/unit/core/filter`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '../test/support/postgres.ts';
import { prepareCluster } from '../test/support/prepared-cluster.ts';
import { tether } from '../test/support/tether.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tap = join(root, 'node_modules', '.bin', 'tap');
/** Cache of compiled code, by content: hundreds of processes load the same files. */
const compileCache = join(root, 'node_modules', '.cache', 'assay-test-compiled');

const SLOWEST_SHOWN = 20;

/** Builds tap again if its plugins are not the default ones: needed once, after an install or a change of .taprc. */
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

/** Replaces folders by patterns, because tap accepts files and patterns only. */
function patternOf(parameter: string): string {
  const isFolder = statSync(join(root, parameter), { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(parameter, '**', '*.test.ts') : parameter;
}

/** Prints the slowest files since `sinceMs`: tap keeps the output of each, which ends with its duration. */
function printSlowest(sinceMs: number): void {
  const results = join(root, '.tap', 'test-results');
  if (!existsSync(results)) return;
  const durations: { file: string; ms: number }[] = [];
  for (const path of readdirSync(results, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.tap') || statSync(join(results, path)).mtimeMs < sinceMs) continue;
    const ms = /^# time=([\d.]+)ms\s*$/m.exec(readFileSync(join(results, path), 'utf8').slice(-200))?.[1];
    if (ms !== undefined) durations.push({ file: path.slice(0, -'.tap'.length), ms: Number(ms) });
  }
  const slowest = durations.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN);
  const lines = slowest.map(({ file, ms }) => `# ${Math.round(ms).toString().padStart(8)}  ${file}\n`);
  if (lines.length > 0) process.stdout.write(`# The slowest test files, in milliseconds:\n${lines.join('')}`);
}

/** Runs tap. If this process is killed, tap ends too and `directory` is removed. */
function runTap(environment: Record<string, string>, directory?: string): Promise<number> {
  const child = spawn(tap, process.argv.slice(2).map(patternOf), {
    cwd: root,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...environment },
  });
  // Ctrl-C reaches tap too, which ends its tests; this process waits for that and then stops the server.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
  });
  tether({ pid: child.pid, ended, signal: 'TERM', directory });
  return ended;
}

/** Returns whether all tests that are asked for are unit tests, which need no PostgreSQL. */
function runsUnitTestsOnly(): boolean {
  const places = process.argv.slice(2).filter((parameter) => !parameter.startsWith('-'));
  return places.length > 0 && places.every((place) => `${relative(root, place)}/`.startsWith('test/unit/'));
}

/** Runs tap beside a PostgreSQL server and a prepared cluster, which it removes afterwards. */
async function runWithPostgres(): Promise<number> {
  const [server, cluster] = await Promise.all([startTestServer(), prepareCluster()]);
  try {
    return await runTap({ ASSAY_TEST_POSTGRES_URL: server.url, ...cluster.environment }, cluster.directory);
  } finally {
    await server.stop();
    rmSync(cluster.directory, { recursive: true, force: true });
  }
}

/** Bundles the dashboard if its sources changed: `npm test` has done so, a run without npm has not. */
function buildDashboard(): void {
  const script = join(root, 'scripts', 'build-dashboard.mjs');
  const build = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] });
  if (build.status !== 0) process.exit(1);
}

buildTap();
buildDashboard();
const startedMs = Date.now();
process.exitCode = runsUnitTestsOnly() ? await runTap({}) : await runWithPostgres();
printSlowest(startedMs);
