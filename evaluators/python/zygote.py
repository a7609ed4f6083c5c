"""The zygote: a Python process with every module loaded, which forks one child per job and never sees an evaluation.

It reads the commands `fork <id> <cpu seconds> <memory MB>` and `kill <id>` on stdin, after its settings; on stdout it reports,
as lines of JSON, that it is ready and how each child ended. A child connects to the service's socket, locks itself down and
sends its id; only then it is sent a job. Started by zygote.ts.
"""
import gc
import importlib
import json
import os
import resource
import selectors
import signal
import sys
import types
import warnings
from fcntl import F_DUPFD_CLOEXEC, fcntl

# Modules register fork handlers for programs with threads, which cost a third of a fork. A child needs only one of them,
# for random numbers that differ from its siblings', and evaluation.py does that.
register_at_fork, os.register_at_fork = os.register_at_fork, lambda **hooks: None

import _socket  # noqa: E402

LENGTH_DIGITS = 10


def read_settings():
    """Reads the settings: a length, then JSON. The reads are unbuffered, since commands follow on the same descriptor."""
    return json.loads(read_exactly(int(read_exactly(LENGTH_DIGITS))))


def read_exactly(length):
    parts = []
    while length > 0:
        part = os.read(0, length)
        if not part:
            sys.exit('the service is gone')
        parts.append(part)
        length -= len(part)
    return b''.join(parts)


def load_own(name):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(SETTINGS['sources'][name], f'<{name}>', 'exec'), module.__dict__)
    return module


SETTINGS = read_settings()
lockdown = load_own('lockdown')
enclosure, evaluation, seccomp = load_own('enclosure'), load_own('evaluation'), load_own('seccomp')

# Importable modules load these on first use, when no file can be opened any more, as does a future statement.
ENCODINGS = (
    'ascii latin_1 iso8859_1 iso8859_15 cp1250 cp1251 cp1252 cp437 koi8_r idna punycode utf_7 utf_8 utf_8_sig utf_16 utf_16_le '
    'utf_16_be utf_32 utf_32_le utf_32_be unicode_escape raw_unicode_escape hex_codec base64_codec quopri_codec rot_13'
)
ALSO_LOADED = ('__future__', '_strptime', 'linecache', 'traceback', *(f'encodings.{name}' for name in ENCODINGS.split()))
# Exit statuses of a child that could not be forked, or not locked down.
NOT_FORKED, LOCKDOWN_FAILED = 96, 97
OPEN_FILES = 4096
SOCKET = 'socket'


class Refuser:
    """Replaces Python's finders: in every tier, only loaded modules can be imported."""

    def __init__(self, modules):
        self._available = ', '.join(modules)

    def find_spec(self, name, path=None, target=None):
        text = f"No module named '{name}'; evaluators can import {self._available}"
        raise ModuleNotFoundError(text, name=name)


def load(modules):
    """Loads the modules that evaluators may import; returns those that this Python lacks."""
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    for name in ALSO_LOADED:
        importlib.import_module(name)
    return missing


def forget_the_machine(modules):
    """Removes from the interpreter everything that tells where it runs, or could load more modules."""
    import builtins
    builtins.exit = builtins.quit = sys.exit  # as in an ordinary Python
    for own in ('enclosure', 'evaluation', 'lockdown', 'seccomp'):
        del sys.modules[own]
    os.register_at_fork = register_at_fork
    os.environ.clear()
    sys.argv, sys.orig_argv, sys.path[:], sys.path_hooks[:] = [''], [''], [], []
    sys.executable = sys._base_executable = ''
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [Refuser(modules)]
    warnings.simplefilter('ignore', SyntaxWarning)


def address_space_bytes():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def offer_to_the_kernel():
    """Makes the kernel kill these processes before the service when the machine runs out of memory."""
    try:
        with open('/proc/self/oom_score_adj', 'w') as file:
            file.write('1000')
    except OSError:
        pass


class LockedDown(BaseException):
    """Raised in a new child that has locked itself down, to leave the zygote's frames and all that they hold."""

    def __init__(self, reserve):
        super().__init__()
        self.reserve = reserve


class Zygote:
    def __init__(self, settings):
        self.tier, self.first_uid = settings['tier'], settings['firstUid']
        self.filter = seccomp.Filter(lockdown.LIBC)
        self.abi = lockdown.landlock_abi()
        self.null = os.open('/dev/null', os.O_RDWR)
        self.selector = selectors.DefaultSelector()
        self.children = {}  # by id: (pid, pidfd, slot)
        self.slots = set()
        self.reserve = bytearray(evaluation.RESERVE_BYTES)
        self.base_bytes = address_space_bytes()

    def fork(self, identity, cpu_seconds, memory_mb):
        slot = next(slot for slot in range(len(self.slots) + 1) if slot not in self.slots)
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            # The machine has no process or memory to spare. Running children must not suffer for it.
            tell_exit(identity, NOT_FORKED)
            return
        if pid == 0:
            self.become_child(identity, slot, zygote, cpu_seconds, memory_mb)
        descriptor = os.pidfd_open(pid)
        self.slots.add(slot)
        self.children[identity] = (pid, descriptor, slot)
        self.selector.register(descriptor, selectors.EVENT_READ, identity)

    def kill(self, identity):
        child = self.children.get(identity)
        if child is not None:
            signal.pidfd_send_signal(child[1], signal.SIGKILL)

    def reap(self, identity):
        pid, descriptor, slot = self.children.pop(identity)
        self.selector.unregister(descriptor)
        os.close(descriptor)
        _, status, usage = os.wait4(pid, 0)
        self.slots.discard(slot)
        tell_exit(identity, os.waitstatus_to_exitcode(status), (usage.ru_utime + usage.ru_stime) * 1e3)

    def become_child(self, identity, slot, zygote, cpu_seconds, memory_mb):
        """Locks the child down and raises LockedDown. An earlier error ends the child before it has sent its id."""
        try:
            self.lock_down(slot, zygote, cpu_seconds, memory_mb)
            os.write(evaluation.CONNECTION, identity.to_bytes(4, 'big'))
        except BaseException as error:
            os.write(2, f'a child cannot lock itself down: {error}\n'.encode())
            os._exit(LOCKDOWN_FAILED)
        raise LockedDown(self.reserve)

    def lock_down(self, slot, zygote, cpu_seconds, memory_mb):
        os.setsid()
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(SOCKET)
        os.chdir('/')  # the same in each tier, and no path of the service
        self.keep_only(connection.detach())
        if self.tier == 'chroot':
            uid = self.first_uid + slot
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        lockdown.limit_child(cpu_seconds, self.base_bytes + (memory_mb << 20))
        lockdown.stay_private()
        lockdown.die_with_parent()
        if os.getppid() != zygote:
            raise OSError('the zygote is gone')
        lockdown.deny_files_and_network(self.abi)
        self.filter.install()
        # Errors are no longer reported. dup2 is refused by now; dup takes the lowest free descriptor.
        os.close(2)
        if lockdown.LIBC.dup(0) != 2:
            raise OSError('stderr is not where it should be')

    def keep_only(self, connection):
        """Keeps as descriptors: /dev/null as input and output, the connection, and stderr until the lockdown is complete."""
        # The copy is above the descriptors that are about to be replaced.
        connection = fcntl(connection, F_DUPFD_CLOEXEC, evaluation.CONNECTION + 1)
        for descriptor in (0, 1):
            os.dup2(self.null, descriptor, inheritable=False)
        os.dup2(connection, evaluation.CONNECTION, inheritable=False)
        os.closerange(evaluation.CONNECTION + 1, OPEN_FILES)

    def obey(self, line):
        what, *numbers = line.split()
        if what == b'fork':
            self.fork(*map(int, numbers))
        elif what == b'kill':
            self.kill(int(numbers[0]))

    def run(self):
        """Obeys commands until stdin ends, when the service stops or is gone. Raises LockedDown in each child."""
        pending = b''
        self.selector.register(0, selectors.EVENT_READ, None)
        while True:
            for key, _ in self.selector.select():
                if key.data is not None:
                    self.reap(key.data)
                    continue
                received = os.read(0, 65536)
                if not received:
                    for identity in list(self.children):
                        self.kill(identity)
                        self.reap(identity)
                    return
                *lines, pending = (pending + received).split(b'\n')
                for line in lines:
                    self.obey(line)


def tell_exit(identity, exit_code, cpu_ms=0):
    """Reports the end of a child. `exit_code` is a status, or a signal as a negative number."""
    status, ended_by = (exit_code, None) if exit_code >= 0 else (None, -exit_code)
    tell({'exit': identity, 'status': status, 'signal': ended_by, 'cpuMs': cpu_ms})


def tell(what):
    line = (json.dumps(what) + '\n').encode()
    while line:
        line = line[os.write(1, line):]


def main():
    os.setsid()  # Ctrl-C is for the service, which lets running evaluations end
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.closerange(3, OPEN_FILES)
    lockdown.limit(resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES)
    offer_to_the_kernel()
    missing = load(SETTINGS['modules'])
    zygote = Zygote(SETTINGS)
    enclosure.enter(SETTINGS['tier'], SETTINGS['directory'])
    lockdown.gain_nothing()
    lockdown.stay_private()
    lockdown.die_with_parent()
    lockdown.limit_for_good()
    forget_the_machine([name for name in SETTINGS['modules'] if name not in missing])
    gc.collect()
    gc.freeze()
    tell({'ready': True, 'missing': missing, 'landlock': zygote.abi, 'python': sys.version.split()[0]})
    zygote.run()


def run_until_child():
    """Returns the reserve of memory in each child, and None in the zygote at its end."""
    try:
        main()
    except LockedDown as child:
        return child.reserve


reserve = run_until_child()
if reserve is not None:
    evaluation.serve(reserve, globals())
