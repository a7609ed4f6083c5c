/** The kernel's own report on a child: each barrier is in place, whatever the others would have stopped. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../evaluators/python/mod.ts';
import { cpuLimitOf, descendantsOf, eventually, type Process } from '../../../support/processes.ts';
import { define, openSandbox } from './support/sandbox.ts';

const NAMESPACES = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts'];
/** Limits that no waiting child has, by which the working child is recognized. */
const LIMITS = { ...DEFAULT_LIMITS, cpuSeconds: 7 };

/** Reads a file of /proc; empty when the process has ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

const status = (pid: number) =>
  Object.fromEntries(
    read(pid, 'status')
      .split('\n')
      .map((line) => line.split(':\t')),
  ) as Record<string, string>;

const limits = (pid: number) =>
  Object.fromEntries(
    read(pid, 'limits')
      .split('\n')
      .map((line) => line.split(/\s{2,}/).slice(0, 3))
      .map(([name = '', soft, hard]) => [name, `${soft} ${hard}`]),
  );

const skip = process.getuid?.() !== 0 && 'only root can look into other users’ processes';
for (const wantedTier of ['chroot', 'namespaces', 'process'] as const) {
  t.test(`a child has every limit and barrier of the tier ${wantedTier}`, { skip }, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier, concurrency: 1 });
    t.equal(sandbox.tier, wantedTier);
    const evaluated = sandbox.evaluate({
      code: define('import time; time.sleep(9)'),
      input: '',
      output: '',
      limits: LIMITS,
    });
    const isAtWork = (process: Process) =>
      cpuLimitOf(process) === LIMITS.cpuSeconds && status(process.pid).Seccomp === '2';
    t.ok(await eventually(() => descendantsOf(process.pid).some(isAtWork)));
    const { pid: child, parent: zygote } = descendantsOf(process.pid).find(isAtWork)!;
    const of = status(child);
    t.match(of, { NoNewPrivs: '1', Seccomp: '2', CapEff: '0000000000000000', CapPrm: '0000000000000000' });
    t.match(limits(child), {
      'Max cpu time': '7 8',
      'Max file size': '0 0',
      'Max core file size': '0 0',
      'Max processes': '0 0',
      'Max open files': '16 16',
    });
    // The test runner sets these variables for every process below it; the service does not.
    const environment = read(child, 'environ').split('\0');
    t.same(
      environment.filter((variable) => !/^(?:NODE_OPTIONS=|_TAPJS_)/.test(variable)).sort(),
      ['', 'LC_ALL=C.UTF-8', 'PATH=/usr/local/bin:/usr/bin:/bin', 'TZ=UTC0'],
      'of the environment the service has given it none of its own',
    );
    const descriptors = readdirSync(`/proc/${child}/fd`).map((name) =>
      readlinkSync(`/proc/${child}/fd/${name}`),
    );
    t.match(descriptors, ['/dev/null', '/dev/null', '/dev/null', /^socket:/]);
    t.equal(descriptors.length, 4);
    t.equal(statSync(`/proc/${child}/environ`).uid, 0, 'what looks into it belongs to root, not to its user');
    const caps = BigInt(`0x${status(zygote).CapEff}`);
    t.equal(
      caps,
      wantedTier === 'chroot' ? 0b11100000n : 0n,
      'the zygote keeps setuid, setgid, kill, where it needs them',
    );

    const root = readlinkSync(`/proc/${child}/root`);
    if (wantedTier === 'process') t.equal(root, '/');
    else t.ok(root.startsWith(sandbox.directory), root);
    const user = Number(of.Uid?.split('\t')[0]);
    if (wantedTier === 'chroot') t.ok(user >= 64_200, `user ${user}`);
    const other = NAMESPACES.filter(
      (name) => readlinkSync(`/proc/${child}/ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`),
    );
    t.same(other, wantedTier === 'namespaces' ? NAMESPACES : []);
    await sandbox.stop();
    await evaluated;
  });
}
