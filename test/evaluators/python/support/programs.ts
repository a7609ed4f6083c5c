/** Hostile, odd and broken evaluators, and how each must end, in every tier. */

import { define } from './sandbox.ts';
import { CALLS } from './system-calls.ts';

export type Program = {
  name: string;
  code: string;
  /** The score, or one of these codes. */
  ends: number | readonly string[];
  /** Ends by a limit, which is set low for it. */
  isSlow?: boolean;
};

const REFUSED = ['py_exception', 'py_crash'] as const;
const TIMEOUT = ['py_timeout'] as const;

function group(ends: Program['ends'], bodies: Record<string, string>, isSlow = false): Program[] {
  return Object.entries(bodies).map(([name, body]) => ({ name, code: define(body), ends, isSlow }));
}

const sources = (ends: Program['ends'], codes: Record<string, string>): Program[] =>
  Object.entries(codes).map(([name, code]) => ({ name, code, ends }));

const values: Program[] = [
  ...group(0.5, { 'a float': 'return 0.5' }),
  ...group(1, {
    'an int': 'return 1',
    'a bool': 'return True',
    'stdin is empty': 'import sys\nreturn 1 if sys.stdin.read() == "" else 0',
  }),
  ...group(['py_bad_return_type'], {
    none: 'return None',
    'a str': 'return "0.7"',
    'a list': 'return [1]',
    'a complex': 'return 1j',
    'a Decimal': 'import decimal\nreturn decimal.Decimal("0.5")',
    'an int subclass': 'class X(int): pass\nreturn X(3)',
    'a lying float':
      'class X(float):\n    def __float__(s): return 9.0\n    def __repr__(s): return "NaN"\nreturn X(1)',
    'a generator': 'yield 1',
    'builtins patched': 'import builtins\nbuiltins.type = lambda *a: float\nreturn "x"',
  }),
  ...group(['py_not_finite'], {
    nan: 'return float("nan")',
    'minus infinity': 'return float("-inf")',
    'a huge int': 'return 10**400',
  }),
  ...sources(['py_bad_signature'], {
    async: 'async def evaluate(input, output):\n    return 1',
    'wrong arity': 'def evaluate(a):\n    return 1',
  }),
  ...sources(0.25, { 'a lambda': 'evaluate = lambda input, output: 0.25' }),
  ...sources(1, { 'keywords only': 'def evaluate(*, input, output):\n    return 1' }),
  ...sources(['py_no_function'], { 'not callable': 'evaluate = 3', missing: 'x = 1' }),
  ...sources(['py_syntax_error'], { syntax: 'def evaluate(input, output)\n  return 1' }),
];

const failures: Program[] = [
  ...group(['py_exception'], {
    raises: 'raise ValueError("boom")',
    'an exception whose text raises':
      'class E(Exception):\n    def __str__(s): raise RuntimeError("x")\nraise E()',
    'an exception that refuses to be changed':
      'class E(Exception):\n    def __setattr__(s, n, v): raise RuntimeError("x")\n    __traceback__ = property(lambda s: 1/0)\nraise E()',
    KeyboardInterrupt: 'raise KeyboardInterrupt()',
    'sys.exit': 'import sys; sys.exit(3)',
    recursion: 'def g(n): return g(n+1)\nreturn g(0)',
    'int of a million digits': 'return int("9"*10**6)',
    'an unknown import': 'import numpy\nreturn 1',
    'a lazy import': 'import json.tool, email.message\nreturn 1',
  }),
  ...group(['py_no_result'], {
    'os._exit': 'import os; os._exit(0)',
    'answers to nobody': 'import os; os.close(3); os._exit(0)',
  }),
  ...group(['py_crash'], {
    abort: 'import os; os.abort()',
    'segmentation fault': 'import ctypes; ctypes.string_at(0)',
  }),
  ...group(['py_crash', 'py_memory', 'py_timeout', 'py_exception'], {
    'recursion without limit': 'import sys\nsys.setrecursionlimit(10**9)\ndef g(): return g()\nreturn g()',
  }),
  ...group(['py_memory'], {
    'memory, bit by bit': 'x = []\nwhile True: x.append(bytearray(10**7))',
    'memory, at once': 'return len("a"*10**11)',
    'memory, kept in a module': 'import json\njson.x = []\nwhile True: json.x.append("x" * 10**6)',
  }),
];

const slow: Program[] = [
  ...group(
    TIMEOUT,
    {
      loop: 'while True: pass',
      sleep: 'import time; time.sleep(60)',
      'a loop that catches everything':
        'import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass',
      'a regular expression': 'import re\nreturn 1 if re.match(r"(a+)+$", "a"*40+"b") else 0',
      'a power': 'return 1 if 9**9**9 else 0',
      'sorting what lies':
        'class X:\n    def __lt__(s, o):\n        while True: pass\nreturn len(sorted([X(), X()]))',
      'a flood of output': 'while True: print("x"*10000)',
      'a text that never ends':
        'class E(Exception):\n    def __str__(s):\n        while True: pass\nraise E()',
      'waits for input': 'import select\nselect.select([3], [], [])\nreturn 1',
    },
    true,
  ),
  { name: 'a loop in the module', code: 'while True: pass', ends: TIMEOUT, isSlow: true },
  ...group(
    ['py_timeout', 'py_no_result'],
    { 'goes on without its connection': 'import os\nos.close(3)\nwhile True: pass' },
    true,
  ),
];

const answers: Program[] = [
  ...group(0.1, {
    'a printed answer': 'print(\'{"ok":true,"value":1.0}\')\nreturn 0.1',
    'json patched': 'import json\njson.dumps = lambda *a, **k: "7"\nreturn 0.1',
    'os.write patched': 'import os\nos.write = lambda *a: 0\nreturn 0.1',
  }),
  ...group(1, {
    'no stdout': 'import sys\nsys.stdout = None\nprint("x")\nreturn 1',
    'prints a surrogate': 'print("\\ud800"); return 1',
    'an exit handler': 'import atexit, os\natexit.register(lambda: os.write(3, b"x")); return 1',
    'a finalizer': 'import os\nclass X:\n    def __del__(s): os.write(3, b"zz")\nglobal k; k = X(); return 1',
  }),
  ...group(['bad_result'], {
    'JSON on the connection': 'import os\nos.write(3, b\'{"ok":true,"value":99}\'); os._exit(0)',
    'a flood on the connection': 'import os\nwhile True: os.write(3, b"x"*65536)',
    'garbage on the connection': 'import os\nos.write(3, b"\\xff\\xfe{"); os._exit(0)',
    'two answers':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 21, 1, 0.9, 0, 0, 0, 0)); return 0.5',
    'an answer that is not finite':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 21, 1, float("inf"), 0, 0, 0, 0)); os._exit(0)',
    'an answer of another kind':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 21, 0, 0, 0, 0, 0, 0)); os._exit(0)',
    'an answer with an unknown code':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 24, 2, 0, 0, 0, 3, 0) + b"abc"); os._exit(0)',
    'an answer longer than it is':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 21, 2, 0, 0, 0, 9, 9)); os._exit(0)',
    'an answer without end': 'import os, struct\nos.write(3, struct.pack(">I", 2**31)); os._exit(0)',
  }),
  ...group(['py_no_result'], { 'all descriptors closed': 'import os\nos.closerange(0, 100)\nreturn 1' }),
];

const LIBC = 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n';
/** Raises when a C function did, and returns 1 when it did not. */
const orRaise = (call: string) =>
  `${LIBC}if ${call} == -1: raise PermissionError(ctypes.get_errno(), "refused")\nreturn 1`;

const files: Program[] = [
  ...group(REFUSED, {
    'reads passwd': 'return len(open("/etc/passwd").read())',
    'reads passwd in C': orRaise('libc.open(b"/etc/passwd", 0)'),
    'reads itself': 'return len(open(__import__("os").__file__).read())',
    'its environment in proc': 'return len(open("/proc/self/environ").read())',
    'the environment of its parent': 'import os\nreturn len(open("/proc/%d/environ" % os.getppid()).read())',
    'its memory in proc': 'return open("/proc/self/mem", "rb").fileno()',
    'its mappings': 'return len(open("/proc/self/maps").read())',
    'the descriptors of its parent': 'import os\nreturn len(os.listdir("/proc/%d/fd" % os.getppid()))',
    'writes in tmp': 'open("/tmp/assay-escaped", "w").write("x"); return 1',
    'writes where it is': 'open("assay-escaped", "w").write("x"); return 1',
    'fills the disk': 'f = open("/tmp/assay-escaped", "wb")\nwhile True: f.write(b"x"*10**6)',
    'writes shared memory': 'open("/dev/shm/assay-escaped", "wb").write(b"x"); return 1',
    symlink: 'import os\nos.symlink("/etc/shadow", "./link"); return 1',
    'hard link': 'import os\nos.link("/etc/passwd", "./link"); return 1',
    'lists the root': 'import os\nreturn len(os.listdir("/"))',
    'looks at passwd': 'import os\nreturn os.stat("/etc/passwd").st_size',
    'looks without following': 'import os\nreturn os.lstat("/").st_mode',
    'asks for access': 'import os\nif not os.access("/", os.R_OK): raise PermissionError\nreturn 1',
    unlink: 'import os\nos.unlink("./socket"); return 1',
    rename: 'import os\nos.rename("./socket", "./other"); return 1',
    mkdir: 'import os\nos.mkdir("./d"); return 1',
    truncate: 'import os\nos.truncate("./socket", 0); return 1',
    chmod: 'import os\nos.chmod(".", 0o777); return 1',
    chown: 'import os\nos.chown(".", 0, 0); return 1',
    mknod: 'import os\nos.mknod("./device", 0o600 | 0o020000, os.makedev(1, 3)); return 1',
    mkfifo: 'import os\nos.mkfifo("./fifo"); return 1',
    'extended attributes': 'import os\nos.setxattr(".", "user.x", b"1"); return 1',
    chdir: 'import os\nos.chdir(".."); return 1',
    fchdir: 'import os\nos.fchdir(3); return 1',
    chroot: 'import os\nos.chroot("."); return 1',
    memfd: 'import os\nreturn os.memfd_create("x")',
    mount: orRaise('libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)'),
    'a library': 'import ctypes\nctypes.CDLL("libresolv.so.2"); return 1',
    'another finder':
      'import sys, importlib.machinery as m\nsys.meta_path[:] = [m.BuiltinImporter, m.FrozenImporter, m.PathFinder]; sys.path.append("/usr/lib/python3/dist-packages"); sys.path.append("/usr/lib/python3.11")\nimport smtplib\nreturn 1',
  }),
  ...group(0, {
    'the environment': 'import os\nreturn len(os.environ)',
    'the environment in C':
      'import ctypes\np = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")\nreturn 1 if p and p[0] else 0',
    'a secret of the service': 'import os\nreturn len(os.environ.get("SECRET_KEY", ""))',
    'open descriptors':
      'import os, errno\nn = 0\nfor i in range(4, 4200):\n    try: os.lseek(i, 0, 1); n += 1\n    except OSError as e: n += e.errno != errno.EBADF\nreturn n',
    'its parameters': 'import sys\nreturn len("".join(sys.argv))',
  }),
];

const network: Program[] = group(REFUSED, {
  tcp: 'import _socket\ns = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM); s.connect(("1.1.1.1", 53)); return 1',
  'tcp by the library': 'import socket\nsocket.create_connection(("1.1.1.1", 53), 1); return 1',
  udp: 'import _socket\nreturn _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM).fileno()',
  'ip version 6': 'import _socket\nreturn _socket.socket(_socket.AF_INET6, _socket.SOCK_STREAM).fileno()',
  raw: 'import _socket\nreturn _socket.socket(_socket.AF_INET, _socket.SOCK_RAW, 1).fileno()',
  packet: 'import _socket\nreturn _socket.socket(17, _socket.SOCK_RAW, 0).fileno()',
  'abstract unix': 'import _socket\ns = _socket.socket(_socket.AF_UNIX); s.connect("\\0x"); return 1',
  'its own socket again':
    'import _socket\ns = _socket.socket(_socket.AF_UNIX); s.connect("socket"); return 1',
  socketpair: 'import _socket\n_socket.socketpair(); return 1',
  dns: 'import _socket\nreturn len(_socket.gethostbyname("localhost"))',
  netlink: 'import _socket\n_socket.socket(16, 3, 0); return 1',
  vsock: 'import _socket\nreturn _socket.socket(40, 1, 0).fileno()',
  'sends a descriptor': `${LIBC}if libc.sendmsg(3, ctypes.create_string_buffer(56), 0) == -1: raise PermissionError\nreturn 1`,
  'accepts on its connection': orRaise('libc.accept(3, None, None)'),
  io_uring: orRaise('libc.syscall(425, 8, 0)'),
  pipe: 'import os\nreturn os.pipe()[0]',
});

const processes: Program[] = group(REFUSED, {
  'fork bomb': 'import os\nwhile True: os.fork()',
  'a fork in C': orRaise('libc.fork()'),
  clone3: orRaise('libc.syscall(435, ctypes.create_string_buffer(88), 88)'),
  posix_spawn: 'import os\nos.posix_spawn("/bin/true", ["true"], {}); return 1',
  subprocess: 'import subprocess\nreturn len(subprocess.check_output(["id"]))',
  multiprocessing: 'import multiprocessing\nmultiprocessing.Process(target=print).start(); return 1',
  'os.system': 'import os\nif os.system("id") != 0: raise PermissionError\nreturn 1',
  'os.popen': 'import os\nreturn len(os.popen("id").read())',
  execve: 'import os\nos.execve("/bin/sh", ["sh", "-c", "id"], {})',
  'a thread': 'import threading\nthreading.Thread(target=print).start(); return 1',
  'a thread below threading': 'import _thread\nreturn _thread.start_new_thread(print, ())',
  'kills its parent': 'import os\nos.kill(os.getppid(), 9); return 1',
  'kills everybody': 'import os\nos.kill(-1, 9); return 1',
  'kills its group': 'import os\nos.killpg(0, 9); return 1',
  'signals its parent thread by thread': orRaise(
    'libc.syscall(234, __import__("os").getppid(), __import__("os").getppid(), 9)',
  ),
  'queues a signal': orRaise('libc.sigqueue(__import__("os").getppid(), 9, 0)'),
  ptrace: orRaise('libc.ptrace(16, 1, 0, 0)'),
  'is traced': orRaise('libc.ptrace(0, 0, 0, 0)'),
  process_vm_readv: orRaise('libc.process_vm_readv(1, None, 0, None, 0, 0)'),
  process_vm_writev: orRaise('libc.process_vm_writev(1, None, 0, None, 0, 0)'),
  'a pidfd of its parent': 'import os\nreturn os.pidfd_open(os.getppid())',
  'steals a descriptor': orRaise('libc.syscall(438, 3, 0, 0)'),
  'outlives its parent': orRaise('libc.prctl(1, 0, 0, 0, 0)'),
  'lets others look in': orRaise('libc.prctl(4, 1, 0, 0, 0)'),
  'raises its priority': 'import os\nos.nice(-5); return 1',
  'picks its CPU': 'import os\nos.sched_setaffinity(0, {0}); return 1',
  'real-time scheduling': 'import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); return 1',
});

const privileges: Program[] = [
  ...group(REFUSED, {
    unshare: orRaise('libc.unshare(0x10000000)'),
    setns: orRaise('libc.setns(3, 0)'),
    'becomes root': 'import os\nos.setuid(0); return 1',
    'real, effective and saved': 'import os\nos.setresuid(0, 0, 0); return 1',
    groups: 'import os\nos.setgroups([0]); return 1',
    capabilities: orRaise('libc.syscall(126, (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())'),
    'raises its memory': 'import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1)); return 1',
    'keeps its CPU':
      'import resource\nresource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU)); return 1',
    'limits its parent':
      'import resource, os\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)); return 1',
    'executable memory': orRaise(
      'ctypes.cast(libc.mmap, ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * 6))(0, 4096, 7, 34, -1, 0)',
    ),
    'memory made executable': orRaise('libc.mprotect(ctypes.c_void_p(id(libc) & ~4095), 4096, 7)'),
    'another filter': orRaise('libc.prctl(22, 2, 0, 0, 0)'),
    'a call of the x32 interface': orRaise('libc.syscall(0x40000000 + 39)'),
    bpf: orRaise('libc.syscall(321, 0, 0, 0)'),
    perf: orRaise('libc.syscall(298, 0, 0, -1, -1, 0)'),
    keyctl: orRaise('libc.syscall(250, 0, -3, 0)'),
    userfaultfd: orRaise('libc.syscall(323, 0)'),
    setitimer: 'import signal\nsignal.setitimer(0, 0.1); return 1',
    alarm: `${LIBC}libc.alarm(1)\nif ctypes.get_errno() == 1: raise PermissionError\nreturn 1`,
    'the clock': 'import time\ntime.clock_settime(time.CLOCK_REALTIME, 0); return 1',
    'the name of the machine': `${orRaise('libc.sethostname(b"x", 1)')}`,
    reboot: orRaise('libc.reboot(0)'),
    swapoff: orRaise('libc.swapoff(b"/x")'),
    'a kernel module': orRaise('libc.syscall(175, 0, 0, b"")'),
    'locks memory': orRaise('libc.mlockall(3)'),
    'shared memory of System V': orRaise('libc.shmget(0, 4096, 0o1600)'),
    'a message queue': orRaise('libc.msgget(0, 0o1600)'),
    terminal: 'import os\nos.get_terminal_size(0)\nreturn 1',
  }),
  ...group(1, {
    'a date': 'import datetime\nreturn datetime.datetime.strptime("2020-01-02", "%Y-%m-%d").month',
  }),
];

const others: Program[] = [
  ...group(1, {
    'changes its own job in the frames above':
      'import sys\nf = sys._getframe(1); f.f_locals.clear(); return 1',
  }),
  ...group(0, {
    'secrets in its heap':
      'import gc\nreturn len([o for o in gc.get_objects() if isinstance(o, dict) and "SECRET" in str(list(o)[:3])])',
  }),
];

/** Every call but those on a short list, tried one by one in one process. */
const everyCall: Program[] =
  process.arch !== 'x64'
    ? []
    : [
        {
          name: 'every system call that is not needed',
          code: `${LIBC}def evaluate(input, output):
    for number in range(0, 470):
        if number in ${JSON.stringify([...CALLS.allowed, ...CALLS.deadly, ...CALLS.beyondFilters])}: continue
        ctypes.set_errno(0)
        result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
        if result != -1 or ctypes.get_errno() not in (1, 13, 25, 38):
            raise RuntimeError(f'call {number} returned {result} with {ctypes.get_errno()}')
    return 0.75
`,
          ends: 0.75,
        },
        ...CALLS.deadly.map(
          (number): Program => ({
            name: `the deadly call ${number}`,
            code: define(`${LIBC}return libc.syscall(${number}, 0, 0, 0, 0, 0, 0)`),
            ends: ['py_crash'],
          }),
        ),
      ];

export const PROGRAMS: readonly Program[] = [
  ...values,
  ...failures,
  ...answers,
  ...files,
  ...network,
  ...processes,
  ...privileges,
  ...others,
  ...everyCall,
  ...slow,
];
