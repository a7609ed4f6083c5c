/**
 * The self-test of a tier: escapes that children try at the start. A tier in which one succeeds is not used, because the
 * kernel, the container runtime or Python may differ from those that the sandbox was made for.
 */
import type { Outcome } from '#core/scoring/mod.ts';
import type { TextPair } from './frame.ts';

type Escape = {
  action: string;
  body: string;
  /** The message with which it must fail; default: a refused call. */
  failsWith?: RegExp;
};

/** The error by which Python reports a refused call, or the sentence for a call that kills. */
const REFUSED = /^(?:PermissionError|BlockingIOError)\b|^The code made a system call that is never allowed/;

/** An escape succeeds by returning; it calls `refuse()` where a refused call does not raise. */
const PRELUDE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def refuse():
    raise PermissionError('nothing was reached')
def evaluate(input, output):
    return globals()['escape_' + input]()
`;

const ESCAPES: readonly Escape[] = [
  { action: 'reads a file', body: "return open('/etc/passwd').close() or 1" },
  { action: 'lists a directory', body: "return len(os.listdir('/'))" },
  { action: 'looks at a path', body: "return os.stat('/').st_mode" },
  { action: 'writes a file', body: "return os.open('escaped', os.O_WRONLY | os.O_CREAT)" },
  { action: 'opens a socket', body: 'import _socket\nreturn _socket.socket(_socket.AF_INET).fileno()' },
  { action: 'connects locally', body: 'import _socket\nreturn _socket.socket(_socket.AF_UNIX).fileno()' },
  { action: 'forks', body: 'return os.fork()' },
  { action: 'executes a program', body: "os.execv('/bin/true', ['true'])" },
  { action: 'signals its parent', body: 'return os.kill(os.getppid(), 0) or 1' },
  { action: 'traces its parent', body: 'return libc.ptrace(16, os.getppid(), 0, 0) + 1 or refuse()' },
  { action: 'changes its user', body: 'return os.setuid(0) or 1' },
  {
    action: 'reads the clock of another process',
    body: 'import time\nreturn time.clock_gettime((~os.getppid() << 3) | 2) + 1',
  },
  {
    action: 'learns where it runs',
    body: `
import __main__
names = [*sys.orig_argv, *sys.argv, sys.executable, os.getcwd().removeprefix('/')]
frame = sys._getframe()
while frame:
    names.append('' if frame.f_code.co_filename.startswith('<') else frame.f_code.co_filename)
    frame = frame.f_back
return 1 if any(names) or vars(__main__) else refuse()`.trim(),
  },
  { action: 'makes a namespace', body: 'return libc.unshare(0x10000000) + 1 or refuse()' },
  {
    action: 'raises a limit',
    body: 'import resource\nreturn resource.setrlimit(resource.RLIMIT_CPU, (2, 2)) or 1',
    // Python's own error for the refused call.
    failsWith: /^ValueError: not allowed to raise/,
  },
  {
    action: 'makes memory executable',
    body: 'libc.mmap.restype = ctypes.c_void_p\nreturn 1 if libc.mmap(None, 4096, 7, 34, -1, 0) != ctypes.c_void_p(-1).value else refuse()',
  },
  { action: 'takes too much memory', body: 'return len(bytes(8 << 30))', failsWith: /memory/ },
];

const CONTROL = 'def evaluate(input, output):\n    return 0.5 if input + output == "inputoutput" else 0\n';

const asFunction = ({ body }: Escape, index: number) =>
  `def escape_${index}():\n${body.replaceAll(/^/gm, '    ')}\n`;

/** Runs of code in children of the tier: one record in one child, and many in as few as it takes. */
type Runs = {
  alone: (code: string, record: TextPair) => Promise<Outcome>;
  many: (code: string, records: TextPair[]) => Promise<Outcome[]>;
};

/**
 * Returns a sentence about an escape that this tier does not stop, or null. A child tries escapes one after another until
 * one ends it: a child for each took the larger part of the start of the role.
 */
export async function findEscape({ alone, many }: Runs): Promise<string | null> {
  const control = await alone(CONTROL, { input: 'input', output: 'output' });
  if (control.state !== 'completed' || control.score !== 0.5) {
    return `an ordinary evaluation fails: ${'message' in control ? control.message : 'it scores wrongly'}`;
  }
  const code = PRELUDE + ESCAPES.map(asFunction).join('');
  const outcomes = await many(
    code,
    ESCAPES.map((_, index) => ({ input: String(index), output: '' })),
  );
  for (const [index, { action, failsWith = REFUSED }] of ESCAPES.entries()) {
    const outcome = outcomes[index]!;
    const isStopped = outcome.state === 'failed' && failsWith.test(outcome.message);
    if (!isStopped)
      return `code in it ${action}: ${'message' in outcome ? outcome.message : 'nothing refuses it'}`;
  }
  return null;
}
