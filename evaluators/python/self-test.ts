/**
 * Some escapes, tried at the start in a child of the tier that is to be used. A tier in which one succeeds is not
 * used: a kernel, a container runtime or a Python may be other than this was made for.
 */
import type { Outcome } from '#core/scoring/mod.ts';

type Escape = {
  what: string;
  body: string;
  /** How it must fail; being refused by default. */
  failsWith?: RegExp;
};

/** Python names the error of a refused call so. A call that kills is told apart by its own sentence. */
const REFUSED = /^(?:PermissionError|BlockingIOError)\b|^The code made a system call that is never allowed/;

/** Each succeeds by returning; `refuse()` is for those that do not raise by themselves. */
const PRELUDE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def refuse():
    raise PermissionError('nothing was reached')
def evaluate(input, output):
`;

const ESCAPES: readonly Escape[] = [
  { what: 'reads a file', body: "return open('/etc/passwd').close() or 1" },
  { what: 'lists a directory', body: "return len(os.listdir('/'))" },
  { what: 'looks at a path', body: "return os.stat('/').st_mode" },
  { what: 'writes a file', body: "return os.open('escaped', os.O_WRONLY | os.O_CREAT)" },
  { what: 'opens a socket', body: 'import _socket\nreturn _socket.socket(_socket.AF_INET).fileno()' },
  { what: 'connects locally', body: 'import _socket\nreturn _socket.socket(_socket.AF_UNIX).fileno()' },
  { what: 'forks', body: 'return os.fork()' },
  { what: 'executes a program', body: "os.execv('/bin/true', ['true'])" },
  { what: 'signals its parent', body: 'return os.kill(os.getppid(), 0) or 1' },
  { what: 'traces its parent', body: 'return libc.ptrace(16, os.getppid(), 0, 0) + 1 or refuse()' },
  { what: 'changes its user', body: 'return os.setuid(0) or 1' },
  {
    what: 'reads the clock of another process',
    body: 'import time\nreturn time.clock_gettime((~os.getppid() << 3) | 2) + 1',
  },
  {
    what: 'learns where it runs',
    body: `
import __main__
names = [*sys.orig_argv, *sys.argv, sys.executable, os.getcwd().removeprefix('/')]
frame = sys._getframe()
while frame:
    names.append('' if frame.f_code.co_filename.startswith('<') else frame.f_code.co_filename)
    frame = frame.f_back
return 1 if any(names) or vars(__main__) else refuse()`.trim(),
  },
  { what: 'makes a namespace', body: 'return libc.unshare(0x10000000) + 1 or refuse()' },
  {
    what: 'raises a limit',
    body: 'import resource\nreturn resource.setrlimit(resource.RLIMIT_CPU, (2, 2)) or 1',
    // What Python makes of the refusal.
    failsWith: /^ValueError: not allowed to raise/,
  },
  {
    what: 'makes memory executable',
    body: 'libc.mmap.restype = ctypes.c_void_p\nreturn 1 if libc.mmap(None, 4096, 7, 34, -1, 0) != ctypes.c_void_p(-1).value else refuse()',
  },
  { what: 'takes too much memory', body: 'return len(bytes(8 << 30))', failsWith: /memory/ },
];

const CONTROL = 'def evaluate(input, output):\n    return 0.5 if input + output == "inputoutput" else 0\n';

const indented = (body: string) => body.replaceAll(/^/gm, '    ');

/**
 * What this tier does not stop, or null. `evaluate` runs code in a child of the tier.
 */
export async function findEscape(
  evaluate: (job: { code: string; input: string; output: string }) => Promise<Outcome>,
): Promise<string | null> {
  const run = (code: string) => evaluate({ code, input: 'input', output: 'output' });
  const control = await run(CONTROL);
  if (control.state !== 'completed' || control.score !== 0.5) {
    return `an ordinary evaluation fails: ${'message' in control ? control.message : 'it scores wrongly'}`;
  }
  for (const { what, body, failsWith = REFUSED } of ESCAPES) {
    const outcome = await run(PRELUDE + indented(body));
    const isStopped = outcome.state === 'failed' && failsWith.test(outcome.message);
    if (!isStopped)
      return `code in it ${what}: ${'message' in outcome ? outcome.message : 'nothing refuses it'}`;
  }
  return null;
}
