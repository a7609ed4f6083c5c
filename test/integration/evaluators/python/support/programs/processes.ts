/** Programs that try to start processes, or to control others. */
import { group, orRaise, type Program, REFUSED } from './program.ts';

export const processes: Program[] = group(REFUSED, {
  'fork bomb': 'import os\nwhile True: os.fork()',
  'a fork in C': orRaise('libc.fork()'),
  vfork: orRaise('libc.syscall(58)'),
  'executes what it holds': orRaise('libc.syscall(322, 3, b"", None, None, 0x1000)'),
  'a command by way of all classes':
    'def all(c): return [d for s in type.__subclasses__(c) for d in (s, *all(s))]\nfor c in all(object):\n    system = getattr(getattr(c, "__init__", None), "__globals__", {}).get("system")\n    if system and system("id") != 0: raise PermissionError\nreturn 1',
  'a command in a pickle':
    'import pickle\nif pickle.loads(b"cos\\nsystem\\n(S\\x27id\\x27\\ntR.") != 0: raise PermissionError\nreturn 1',
  'stops itself': 'import signal\nsignal.raise_signal(signal.SIGSTOP); return 1',
  'ends itself as if memory were short': 'import signal\nsignal.raise_signal(signal.SIGKILL); return 1',
  'ends a child as the zygote does': 'import signal\nsignal.pidfd_send_signal(3, 9); return 1',
  'waits for children': 'import os\nos.wait(); return 1',
  'a lock that lends priority': orRaise('libc.syscall(202, ctypes.byref(ctypes.c_uint32()), 6, 0, 0, 0, 0)'),
  'compares with its parent': orRaise(
    'libc.syscall(312, __import__("os").getpid(), __import__("os").getppid(), 0, 3, 3)',
  ),
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
