/** Programs that return all kinds of values, or fail by themselves. */
import { group, type Program, sources } from './program.ts';

export const values: Program[] = [
  ...group(0.5, { 'a float': 'return 0.5' }),
  ...group(1, {
    'an int': 'return 1',
    'a dict': 'return {"score": True, "label": "\\ud800", "reasoning": "x" * 10**7}',
    'a bool': 'return True',
    'stdin is empty': 'import sys\nreturn 1 if sys.stdin.read() == "" else 0',
    'a text of its own kind, printed':
      'class S(str):\n    def __getitem__(s, i): return 7\n    def __len__(s): return -1\n    def __str__(s): return s\nimport sys; sys.stdout.write(S("y")); return 1',
    'a module of its own making':
      'import sys, types\nsys.modules["numpy"] = types.ModuleType("numpy")\nimport numpy\nreturn 1',
  }),
  ...group(1.7976931348623157e308, { 'the largest float': 'import sys\nreturn sys.float_info.max' }),
  ...group(['py_bad_return_type'], {
    'a Fraction': 'import fractions\nreturn fractions.Fraction(1, 2)',
    'an IntEnum': 'import enum\nreturn enum.IntEnum("E", "A").A',
    bytes: 'return b"1"',
    'a tuple': 'return (1,)',
    NotImplemented: 'return NotImplemented',
    'a class': 'return float',
    'what converts to a float':
      'class X:\n    def __float__(s): return 1.0\n    __index__ = __float__\nreturn X()',
    'what has no name':
      'class M(type):\n    __name__ = property(lambda s: 1/0)\nclass X(metaclass=M): pass\nreturn X()',
    none: 'return None',
    'a str': 'return "0.7"',
    'a list': 'return [1]',
    'an empty dict': 'return {}',
    'a dict of a kind of its own': 'import collections\nreturn collections.OrderedDict(score=1)',
    'a dict with a lying key':
      'class K(str):\n    def __eq__(s, o): return True\n    def __hash__(s): return hash("score")\nreturn {K("x"): 1}',
    'a dict with a lying score': 'class X(float):\n    def __float__(s): return 9.0\nreturn {"score": X(1)}',
    'a dict with a lying label':
      'class S(str):\n    def encode(s, *a): return b"x" * 10**6\nreturn {"score": 1, "label": S("y")}',
    'a label of an evaluator without categories': 'return {"label": "good"}',
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

export const failures: Program[] = [
  ...group(['py_exception'], {
    raises: 'raise ValueError("boom")',
    'an exception whose text raises':
      'class E(Exception):\n    def __str__(s): raise RuntimeError("x")\nraise E()',
    'an exception that refuses to be changed':
      'class E(Exception):\n    def __setattr__(s, n, v): raise RuntimeError("x")\n    __traceback__ = property(lambda s: 1/0)\nraise E()',
    KeyboardInterrupt: 'raise KeyboardInterrupt()',
    'sys.exit': 'import sys; sys.exit(3)',
    StopIteration: 'raise StopIteration(1)',
    GeneratorExit: 'raise GeneratorExit',
    'a chain of 10,000 exceptions':
      'e = None\nfor i in range(10_000):\n    n = ValueError(i); n.__cause__ = e; e = n\nraise e',
    'an exception whose text is of its own kind':
      'class S(str):\n    def __getitem__(s, i): return 7\nclass E(Exception):\n    def __str__(s): return S("x")\nraise E()',
    'hooks of the interpreter':
      'import sys, os\nsys.excepthook = sys.unraisablehook = sys.displayhook = lambda *a: os.write(3, b"x")\nraise ValueError',
    'a trace of what comes after':
      'import sys\ndef trace(*a): raise ValueError("traced")\nsys.settrace(trace)\nreturn 1',
    'a catastrophe of nesting': 'import json\nreturn len(json.loads("[" * 10**5))',
    'a package of the site': 'import pip\nreturn 1',
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
    'writes over the C library':
      'import ctypes\nctypes.memset(ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value, 0, 64)\nreturn 1',
    'calls what is data':
      'import ctypes\ndata = ctypes.create_string_buffer(b"\\xc3" * 64)\nctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(data))()\nreturn 1',
  }),
  ...group(['py_memory', 'py_timeout'], {
    'a bomb of zeros':
      'import zlib\nbomb = zlib.compress(bytes(10**7))\nkept = []\nwhile True: kept.append(zlib.decompress(bomb))',
  }),
  ...group(['py_memory'], {
    'memory, bit by bit': 'x = []\nwhile True: x.append(bytearray(10**7))',
    'memory, at once': 'return len("a"*10**11)',
    'memory, kept in a module': 'import json\njson.x = []\nwhile True: json.x.append("x" * 10**6)',
  }),
];
