/** What the kernel itself says of a child: each wall stands, whatever the others would have stopped. */
import { readFileSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { DEFAULT_LIMITS, type Tier } from '../../../evaluators/python/mod.ts';
import { descendantsOf } from './support/processes.ts';
import { define, openSandbox } from './support/sandbox.ts';

const NAMESPACES = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts'];
/** Below the zygote, and in `namespaces` below its first process there. */
const GENERATION: Partial<Record<Tier, number>> = { chroot: 2, namespaces: 3, process: 2 };

/** A child that is at work, and its forebears up to this process. */
function childAndForebears(tier: Tier): number[] {
  const family = descendantsOf(process.pid);
  const parents = new Map(family.map(({ pid, parent }) => [pid, parent]));
  const line = (pid: number): number[] => (pid === process.pid ? [] : [pid, ...line(parents.get(pid)!)]);
  return family.map(({ pid }) => line(pid)).find(({ length }) => length === GENERATION[tier])!;
}

const status = (pid: number) =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .map((line) => line.split(':\t')),
  ) as Record<string, string>;

const limits = (pid: number) =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/limits`, 'utf8')
      .split('\n')
      .map((line) => line.split(/\s{2,}/).slice(0, 3))
      .map(([name = '', soft, hard]) => [name, `${soft} ${hard}`]),
  );

const skip = process.getuid?.() !== 0 && 'only root can look into other users’ processes';
for (const wantedTier of ['chroot', 'namespaces', 'process'] as const) {
  t.test(`a child of tier ${wantedTier}`, { skip }, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier, concurrency: 1 });
    t.equal(sandbox.tier, wantedTier);
    const evaluated = sandbox.evaluate({
      code: define('import time; time.sleep(0.5)'),
      input: '',
      output: '',
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [child = 0, zygote = 0] = childAndForebears(wantedTier);
    const of = status(child);
    t.match(of, { NoNewPrivs: '1', Seccomp: '2', CapEff: '0000000000000000', CapPrm: '0000000000000000' });
    t.match(limits(child), {
      'Max cpu time': `${DEFAULT_LIMITS.cpuSeconds} ${DEFAULT_LIMITS.cpuSeconds + 1}`,
      'Max file size': '0 0',
      'Max core file size': '0 0',
      'Max processes': '0 0',
      'Max open files': '16 16',
    });
    t.equal(
      readFileSync(`/proc/${child}/environ`, 'utf8').includes('PATH'),
      true,
      'what execve left is the fixed three',
    );
    t.notMatch(readFileSync(`/proc/${child}/environ`, 'utf8'), /HOME|npm|TAP/);
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
    await evaluated;
  });
}
