/** Programs that try to gain rights, and programs that must go on working. */
import { ANYHOW, group, LIBC, orRaise, type Program, REFUSED } from './program.ts';

export const privileges: Program[] = [
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
    'executable memory': orRaise('libc.syscall(9, None, 4096, 7, 34, -1, 0)'),
    'memory made executable': orRaise('libc.mprotect(ctypes.c_void_p(id(libc) & ~4095), 4096, 7)'),
    'another filter': orRaise('libc.prctl(22, 2, 0, 0, 0)'),
    'another filter, by a call of its own': orRaise('libc.syscall(317, 1, 0, 0)'),
    'data that executes': orRaise('libc.personality(0x0400000)'),
    'a key of another': orRaise('libc.syscall(249, b"user", b"x", 0, -3)'),
    'the log of the kernel': orRaise('libc.klogctl(3, ctypes.create_string_buffer(64), 64)'),
    'a timer': orRaise('libc.syscall(222, 0, 0, ctypes.byref(ctypes.c_int()))'),
    'ports of the machine': orRaise('libc.syscall(172, 3)'),
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

export const others: Program[] = [
  ...group(1, {
    'changes its own job in the frames above':
      'import sys\nf = sys._getframe(1); f.f_locals.clear(); return 1',
  }),
  ...group(ANYHOW, {
    'bytecode made by hand':
      'f = lambda: 0\nf.__code__ = f.__code__.replace(co_code=bytes([151, 0, 100, 255, 83, 0]))\nreturn f()',
  }),
  ...group(0, {
    'secrets in its heap':
      'import gc\nreturn len([o for o in gc.get_objects() if isinstance(o, dict) and "SECRET" in str(list(o)[:3])])',
  }),
];
