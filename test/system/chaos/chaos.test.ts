/**
 * The promise of the product under everything that can go wrong at once: a minute of `npm run chaos` in CI, or
 * ASSAY_CHAOS_MINUTES of it. ASSAY_SEED repeats a run’s faults.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { natsIsMissing } from '../../support/nats.ts';
import { tether } from '../../support/tether.ts';
import { FAULT_KINDS } from './faults.ts';
import { formatReport, type Report } from './report.ts';

const SCRIPT = fileURLToPath(new URL('./main.ts', import.meta.url));
/**
 * Of load. A minute meets every kind of fault, as faults.test.ts shows; longer runs are made on demand. Outside CI there is no
 * run unless asked for, because everything around it takes minutes more.
 */
const MINUTES = Number(process.env.ASSAY_CHAOS_MINUTES ?? (process.env.CI === 'true' ? 1 : 0));
const SEED = process.env.ASSAY_SEED ?? String(Date.now() % 1_000_000);
/** For the backlog, on a machine that runs other tests as well. A run that takes longer fails, and says what it waits for. */
const DRAIN_SECONDS = 180;
/** For starting and stopping everything. */
const AROUND_MS = 180_000;

t.setTimeout(MINUTES * 60_000 + DRAIN_SECONDS * 1_000 + AROUND_MS);

t.test(
  `${MINUTES} minutes of kills, freezes, cuts and full disks lose no call and store none twice`,
  { skip: MINUTES === 0 ? 'minutes long: set ASSAY_CHAOS_MINUTES, or npm run chaos' : natsIsMissing() },
  async (t) => {
    t.comment(`npm run chaos -- --minutes ${MINUTES} --seed ${SEED}`);
    const parameters = ['--minutes', String(MINUTES), '--seed', SEED, '--rate', '200', '--json'];
    parameters.push('--drain-seconds', String(DRAIN_SECONDS));
    const run = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SCRIPT, ...parameters], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => run.kill('SIGTERM'));
    const ended = once(run, 'exit');
    tether({ pid: run.pid, ended, signal: 'TERM' });
    const [said, [status]] = await Promise.all([text(run.stdout), ended]);
    if (said === '') throw new Error(`The run could not be made: status ${status}`);
    const report = JSON.parse(said) as Report;
    t.comment(formatReport(report));
    t.same(report.failures, []);
    t.equal(status, 0);
    t.ok(report.calls.answered > 0, 'calls were answered');
    t.ok(report.calls.left > 0, 'clients left in the middle');
    t.same(
      FAULT_KINDS.filter((kind) => report.faults[kind] === 0),
      [],
      'every kind of fault came',
    );
  },
);
