/** Programs that only a limit of time or memory stops. */
import { group, type Program } from './program.ts';

const TIMEOUT = ['py_timeout'] as const;

export const slow: Program[] = [
  ...group(
    ['py_timeout', 'py_memory', 'py_crash'],
    {
      'recursion without limit': 'import sys\nsys.setrecursionlimit(10**9)\ndef g(): return g()\nreturn g()',
    },
    true,
  ),
  ...group(
    ['py_timeout', 'py_memory', 'py_exception'],
    {
      'digits of a power': 'import sys\nsys.set_int_max_str_digits(0)\nreturn len(str(10**10_000_000))',
      'a decimal without end':
        'import decimal\ndecimal.getcontext().prec = 10**8\nreturn float(decimal.Decimal(1) / 3)',
      'a width of a format': 'return len(f"{1:>{10**11}}")',
      'a laugh that multiplies':
        'import xml.etree.ElementTree as E\nd = "".join("<!ENTITY l%d \\"%s\\">" % (i, "&l%d;" % (i - 1) * 10) for i in range(1, 12))\nreturn len(E.fromstring("<!DOCTYPE r [<!ENTITY l0 \\"ha\\">%s]><r>&l11;</r>" % d).text)',
    },
    true,
  ),
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
      'a key derived for ever': 'import hashlib\nreturn len(hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9))',
      'signals that are blocked':
        'import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass',
      'a hash that loops': 'class X:\n    def __hash__(s):\n        while True: pass\nreturn len({X()})',
      'waits for another job': 'import os\nreturn len(os.read(3, 1))',
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
