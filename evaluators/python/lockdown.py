"""The lockdown of a child before it reads its job: privileges, resources, files, the network, and last its system calls."""
import ctypes
import os
import resource

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
SIGKILL = 9
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446  # the same on every machine
LANDLOCK_VERSION = 1
STACK_BYTES = 8 << 20
OPEN_FILES = 16

LIBC = ctypes.CDLL(None, use_errno=True)


class Ruleset(ctypes.Structure):
    _fields_ = [('files', ctypes.c_uint64), ('network', ctypes.c_uint64), ('scoped', ctypes.c_uint64)]


def prctl(option, value):
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f'prctl {option} is refused')


def die_with_parent():
    """Has this process killed when its parent ends. A change of the user resets this, so it is called after one."""
    prctl(PR_SET_PDEATHSIG, SIGKILL)


def gain_nothing():
    """Keeps programs that this process or its children execute from gaining privileges; children inherit it."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def stay_private():
    """Keeps other processes of the same user from inspecting this one. It is called after a change of the user."""
    prctl(PR_SET_DUMPABLE, 0)


def landlock_abi():
    """Returns the kernel's version of Landlock; 0: it has none."""
    return max(0, LIBC.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), LANDLOCK_VERSION))


def deny_files_and_network(abi):
    """Denies every right that this kernel's Landlock knows, without exception."""
    if abi < 1:
        return
    files = (1 << 13) - 1
    for since, bit in ((2, 13), (3, 14), (5, 15)):
        if abi >= since:
            files |= 1 << bit
    rules = Ruleset(files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = LIBC.syscall(LANDLOCK_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), 'landlock_create_ruleset is refused')
    if LIBC.syscall(LANDLOCK_RESTRICT, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), 'landlock_restrict_self is refused')
    os.close(ruleset)


def limit(what, soft, hard):
    """Sets a limit, unless it is already lower: a limit is never raised."""
    _, ceiling = resource.getrlimit(what)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(what, (soft, hard))


def limit_for_good():
    """Sets the limits that children inherit from the zygote, which needs none of these resources itself."""
    limit(resource.RLIMIT_STACK, STACK_BYTES, STACK_BYTES)
    for nothing in ('FSIZE', 'CORE', 'MEMLOCK', 'MSGQUEUE'):
        limit(getattr(resource, f'RLIMIT_{nothing}'), 0, 0)


def limit_child(cpu_seconds, address_space_bytes):
    """Sets the limits of one child."""
    # The code can ignore SIGXCPU at the soft limit, but not SIGKILL at the hard one.
    limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    limit(resource.RLIMIT_AS, address_space_bytes, address_space_bytes)
    limit(resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES)
    limit(resource.RLIMIT_NPROC, 0, 0)
