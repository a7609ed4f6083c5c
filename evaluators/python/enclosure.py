"""The isolation of the zygote in each tier, which all its children inherit."""
import ctypes
import os

from lockdown import LIBC, die_with_parent

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
# The id inside the namespace that maps to the user who started the service.
INNER_ID = 65533
CAP_KILL, CAP_SETGID, CAP_SETUID = 5, 6, 7
CAPABILITIES_VERSION_3 = 0x20080522
PR_CAPBSET_DROP = 24
LAST_CAPABILITY = 63


def enter(tier, directory):
    """Isolates this process as `tier` does. `directory` becomes the root, or in the tier `process` the working directory."""
    if tier == 'namespaces':
        enter_namespaces()
    if tier in ('chroot', 'namespaces'):
        os.chroot(directory)
        os.chdir('/')
    else:
        os.chdir(directory)
    if tier == 'chroot':
        os.setgroups([])
        # Needed to give each child its own user, and to kill it.
        keep_capabilities({CAP_SETUID, CAP_SETGID, CAP_KILL})
    else:
        keep_capabilities(set())


def enter_namespaces():
    """Continues as the first process of its own namespaces: when it ends, the kernel kills all others in them."""
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(NAMESPACES) != 0:
        raise OSError(ctypes.get_errno(), 'unshare is refused')
    write('/proc/self/setgroups', 'deny')
    write('/proc/self/uid_map', f'{INNER_ID} {user} 1')
    write('/proc/self/gid_map', f'{INNER_ID} {group} 1')
    first = os.fork()
    if first != 0:
        stand_by(first)
    die_with_parent()


def stand_by(first):
    """Waits, outside the namespaces, for the first process inside them to end. Never returns."""
    die_with_parent()
    for descriptor in (0, 1):
        os.close(descriptor)
    os.waitpid(first, 0)
    os._exit(0)


def keep_capabilities(kept):
    """Drops all other capabilities that this process has."""
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in kept:
            LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    mask = sum(1 << capability for capability in kept)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0)
    if LIBC.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), 'capset is refused')


def write(path, text):
    with open(path, 'w') as file:
        file.write(text)
