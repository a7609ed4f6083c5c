"""The system call filter of a child: it allows about forty calls that computing needs, and none that reaches outside.

A refused call returns an error number, so that Python reports which call was refused; only calls that no evaluator makes by
accident kill. No file is opened and no path is resolved: all importable modules are loaded before.
"""
import ctypes
import errno
import os
import platform
import struct

# Instructions of classic BPF, from linux/bpf_common.h.
LOAD, AND, JUMP_EQUAL, JUMP_GREATER_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
# Verdicts, from linux/seccomp.h.
ALLOW, KILL_PROCESS, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
# Offsets into struct seccomp_data. The low half of an argument comes first: both machines are little-endian.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
PROT_EXEC = 4
# The operations of a lock without other threads: wait and wake, with and without a mask. From linux/futex.h.
FUTEX_OPERATIONS, FUTEX_FLAGS = (0, 1, 9, 10), 128 | 256
X32_BIT = 0x40000000
INSTRUCTION = struct.Struct('=HBBI')
PR_SET_SECCOMP, MODE_FILTER = 22, 2

ALLOWED = {
    'x86_64': dict(
        read=0, write=1, close=3, poll=7, lseek=8, munmap=11, brk=12, rt_sigaction=13, rt_sigprocmask=14,
        rt_sigreturn=15, pread64=17, readv=19, writev=20, select=23, sched_yield=24, mremap=25, madvise=28, dup=32,
        nanosleep=35, getpid=39, exit=60, getcwd=79, gettimeofday=96, getrusage=98, times=100, getuid=102, getgid=104,
        geteuid=107, getegid=108, getppid=110, sigaltstack=131, gettid=186, restart_syscall=219,
        exit_group=231, pselect6=270, ppoll=271,
        getrandom=318, fstat=5,
    ),
    # From asm-generic/unistd.h. No machine of this kind was at hand: the self-test at every start decides there.
    'aarch64': dict(
        getcwd=17, dup=23, close=57, lseek=62, read=63, write=64, readv=65, writev=66, pread64=67, pselect6=72,
        ppoll=73, fstat=80, exit=93, exit_group=94, nanosleep=101, sched_yield=124, restart_syscall=128, sigaltstack=132,
        rt_sigaction=134, rt_sigprocmask=135, rt_sigreturn=139, times=153, getrusage=165, gettimeofday=169,
        getpid=172, getppid=173, getuid=174, geteuid=175, getgid=176, getegid=177, gettid=178, brk=214, munmap=215,
        mremap=216, madvise=233, getrandom=278,
    ),
}
# The third argument of mmap and mprotect is the protection.
MAPPING = {'x86_64': dict(mmap=9, mprotect=10), 'aarch64': dict(mmap=222, mprotect=226)}
# The first argument is the clock. Ids below 8 are the machine's clocks and this process's and thread's own; 11 is TAI.
# Negative ids, made from a process id, are clocks of other processes, from which their computations could be inferred.
CLOCKS = {
    'x86_64': dict(clock_gettime=228, clock_getres=229, clock_nanosleep=230),
    'aarch64': dict(clock_gettime=113, clock_getres=114, clock_nanosleep=115),
}
FIRST_ALARM_CLOCK, CLOCK_TAI = 8, 11
FUTEX = {'x86_64': 202, 'aarch64': 98}
# A child may send SIGABRT to itself only: without it, abort() would look like a segmentation fault.
SIGABRT = 6
TGKILL = {'x86_64': 234, 'aarch64': 131}
# Users expect "Permission denied" for files, and "not permitted" (the default) for everything else.
DENIED = {
    'x86_64': dict(
        open=2, stat=4, lstat=6, access=21, getdents64=217, openat=257, newfstatat=262, readlink=89, readlinkat=267,
        faccessat=269, statx=332, openat2=437, faccessat2=439, creat=85, mkdir=83, rmdir=84, unlink=87, symlink=88,
        link=86, rename=82, chmod=90,
    ),
    'aarch64': dict(
        faccessat=48, openat=56, getdents64=61, readlinkat=78, newfstatat=79, statx=291, openat2=437, faccessat2=439,
        mkdirat=34, unlinkat=35, symlinkat=36, linkat=37, renameat=38, fchmodat=53,
    ),
}
IOCTL = {'x86_64': 16, 'aarch64': 29}
# glibc falls back to clone, which is refused.
CLONE3 = 435
DEADLY = {
    'x86_64': dict(ptrace=101, perf_event_open=298, process_vm_readv=310, process_vm_writev=311, bpf=321),
    'aarch64': dict(ptrace=117, perf_event_open=241, process_vm_readv=270, process_vm_writev=271, bpf=280),
}
AUDIT_ARCHITECTURE = {'x86_64': 0xC000003E, 'aarch64': 0xC00000B7}


class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('instructions', ctypes.c_void_p)]


class Filter:
    """The filter, assembled once in the zygote; a child writes its own process id into it and installs it."""

    def __init__(self, libc):
        machine = platform.machine()
        if machine not in ALLOWED:
            raise OSError(f'no system call table for {machine}')
        self._libc = libc
        instructions, self._own_pid = assemble(machine)
        self._buffer = ctypes.create_string_buffer(b''.join(INSTRUCTION.pack(*one) for one in instructions))
        self._program = Program(len(instructions), ctypes.addressof(self._buffer))

    def install(self):
        """Installs the filter, which cannot be removed. Needs no_new_privs. Raises OSError when the kernel has no filters."""
        struct.pack_into('=I', self._buffer, self._own_pid, os.getpid())
        if self._libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(self._program), 0, 0) != 0:
            raise OSError(ctypes.get_errno(), 'seccomp is refused')


def futex(machine):
    """Allows only the plain operations: kernels have had holes in those that inherit priorities or requeue."""
    count = len(FUTEX_OPERATIONS)
    look = [(LOAD, 0, 0, ARGUMENTS + 8), (AND, 0, 0, 0xFFFFFFFF & ~FUTEX_FLAGS)]
    compare = [(JUMP_EQUAL, count - index, 0, operation) for index, operation in enumerate(FUTEX_OPERATIONS)]
    decide = [(RETURN, 0, 0, ERROR | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    rest = [*look, *compare, *decide]
    return [(JUMP_EQUAL, 0, len(rest), FUTEX[machine]), *rest]


def clocks(machine):
    """Allows only fixed ids. Both halves of the argument are checked: kernels have read the low half alone, or both."""
    refuse = (RETURN, 0, 0, ERROR | errno.EPERM)
    decide = [
        (LOAD, 0, 0, ARGUMENTS + 4),
        (JUMP_EQUAL, 0, 4, 0),
        (LOAD, 0, 0, ARGUMENTS),
        (JUMP_GREATER_EQUAL, 0, 1, FIRST_ALARM_CLOCK),
        (JUMP_EQUAL, 0, 1, CLOCK_TAI),
        (RETURN, 0, 0, ALLOW),
        refuse,
    ]
    numbers = CLOCKS[machine].values()
    return [step for number in numbers for step in [(JUMP_EQUAL, 0, len(decide), number), *decide]]


def assemble(machine):
    """Returns the instructions, and the offset in their bytes of the process id that tgkill may name."""
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, AUDIT_ARCHITECTURE[machine]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]

    def when(number, verdict):
        program.extend([(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, verdict)])

    if machine == 'x86_64':
        program.extend([(JUMP_GREATER_EQUAL, 0, 1, X32_BIT), (RETURN, 0, 0, KILL_PROCESS)])
    for number in ALLOWED[machine].values():
        when(number, ALLOW)
    for number in MAPPING[machine].values():
        program.extend([
            (JUMP_EQUAL, 0, 4, number),
            (LOAD, 0, 0, ARGUMENTS + 8 * 2),
            (JUMP_ANY_BIT, 0, 1, PROT_EXEC),
            (RETURN, 0, 0, ERROR | errno.EPERM),
            (RETURN, 0, 0, ALLOW),
        ])
    program.extend(clocks(machine))
    program.extend(futex(machine))
    program.extend([(JUMP_EQUAL, 0, 6, TGKILL[machine]), (LOAD, 0, 0, ARGUMENTS)])
    own_pid = len(program) * INSTRUCTION.size + 4
    program.extend([
        (JUMP_EQUAL, 0, 3, 0),
        (LOAD, 0, 0, ARGUMENTS + 8 * 2),
        (JUMP_EQUAL, 0, 1, SIGABRT),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERROR | errno.EPERM),
    ])
    for number in DENIED[machine].values():
        when(number, ERROR | errno.EACCES)
    when(IOCTL[machine], ERROR | errno.ENOTTY)
    when(CLONE3, ERROR | errno.ENOSYS)
    for number in DEADLY[machine].values():
        when(number, KILL_PROCESS)
    program.append((RETURN, 0, 0, ERROR | errno.EPERM))
    return program, own_pid
