/** Information about other processes and the machine that code in the sandbox could read. */
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { brief, define, openSandbox, TIERS_HERE } from './support/sandbox.ts';

const texts = { input: 'input', output: 'output' };
/** Clock ids of linux/time.h: the machine's clocks, and the process's and thread's own. */
const FIXED_CLOCKS = [0, 1, 2, 3, 4, 5, 6, 7, 11].map(BigInt);
const CLOCK_CALLS = { x64: [228, 229, 230], arm64: [113, 114, 115] }[process.arch as 'x64' | 'arm64'];

/** Clock ids that the kernel derives from a process id, a thread id or a descriptor, for each kind of clock. */
const madeOfNumbers = fc
  .tuple(fc.nat(4_194_304), fc.nat(7))
  .map(([number, kind]) => BigInt.asUintN(64, (~BigInt(number) << 3n) | BigInt(kind)));
const halves = fc
  .tuple(fc.bigInt(0n, 0xffff_ffffn), fc.oneof(fc.bigInt(0n, 16n), fc.bigInt(0n, 0xffff_ffffn)))
  .map(([high, low]) => (high << 32n) | low);
const clockIds = fc.oneof(
  fc.bigInt(0n, 16n),
  madeOfNumbers,
  madeOfNumbers.map((id) => id & 0xffff_ffffn),
  halves,
);

for (const wantedTier of TIERS_HERE) {
  t.test(`code can read no clocks but those with fixed ids, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier });
    const ids = [...Array.from({ length: 17 }, (_, id) => BigInt(id)), ...fc.sample(clockIds, 2_000)];
    const calls = ids.flatMap((id) =>
      (CLOCK_CALLS ?? []).map((call) => [call, String(id), FIXED_CLOCKS.includes(id)]),
    );
    const { outcome } = await sandbox.evaluate({
      input: JSON.stringify(calls),
      output: '',
      code: define(`
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
for call, clock, is_fixed in json.loads(input):
    ctypes.set_errno(0)
    result = libc.syscall(call, ctypes.c_uint64(int(clock)), 0, None, None)
    is_refused = result == -1 and ctypes.get_errno() == 1
    if is_refused == is_fixed:
        raise RuntimeError(f'call {call} of clock {clock} returned {result} with {ctypes.get_errno()}')
return 0.75`),
    });
    t.equal(brief(outcome), 0.75, JSON.stringify(outcome));
  });

  t.test(`the clocks that programs use advance in the sandbox, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier });
    const { outcome } = await sandbox.evaluate({
      ...texts,
      code: define(`
import time, datetime
for name in ('REALTIME', 'MONOTONIC', 'MONOTONIC_RAW', 'BOOTTIME', 'PROCESS_CPUTIME_ID', 'THREAD_CPUTIME_ID', 'TAI'):
    clock = getattr(time, 'CLOCK_' + name)
    if time.clock_gettime(clock) <= 0 or time.clock_getres(clock) <= 0: raise RuntimeError(name)
time.sleep(0.001)
if time.time() <= 0 or time.perf_counter() <= 0 or time.process_time() <= 0: raise RuntimeError('a clock stands')
return datetime.datetime.now().year > 2000`),
    });
    t.equal(brief(outcome), 1, JSON.stringify(outcome));
  });
}

/**
 * Prints what parameters, frames, tracebacks and the main module show, and counts strings that match. The pattern must not
 * match itself.
 */
const look = (pattern: string) => `
import __main__, gc, os, re, sys, traceback
def shown(value):
    return repr(value) if isinstance(value, (str, int, float, bytes, list, tuple)) else type(value).__name__
print(sys.argv, sys.orig_argv, sys.executable, sys.path, os.getcwd(), dict(os.environ), sorted(vars(__main__)))
frame = sys._getframe()
while frame:
    print(frame.f_code.co_filename, frame.f_code.co_name)
    for names in (frame.f_locals, frame.f_globals):
        for name in sorted(names):
            if name not in ('frame', 'names', 'name', '__builtins__'): print(' ', name, shown(names[name]))
    frame = frame.f_back
try: 1 / 0
except ZeroDivisionError as error:
    print(''.join(traceback.format_exception(error)), ''.join(traceback.format_stack()))
private = re.compile(${JSON.stringify(pattern)})
found = 0
gc.unfreeze()
for thing in gc.get_objects():
    for text in gc.get_referents(thing):
        if type(text) is str and private.search(text): found += 1
return found`;

t.test('parameters, frames and tracebacks are the same in every tier and name no private path', async (t) => {
  const shown = new Set<string>();
  for (const wantedTier of TIERS_HERE) {
    const sandbox = await openSandbox(t, { wantedTier });
    const installed = fileURLToPath(new URL('../../../../evaluators', import.meta.url));
    const pattern = `${installed.slice(0, -1)}[${installed.at(-1)}]|assay-test-pytho[n]`;
    const { outcome, traces } = await sandbox.evaluate({ ...texts, code: define(look(pattern)) });
    t.equal(brief(outcome), 0, JSON.stringify(outcome));
    t.match(traces, /<evaluator> evaluate/);
    t.notMatch(traces, /chroot|namespaces|tier|zygote/);
    shown.add(traces);
  }
  t.equal(shown.size, 1, [...shown].join('\n---\n'));
});
