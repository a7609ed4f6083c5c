/** Programs that interfere with how the score is reported. */
import { group, type Program } from './program.ts';

export const answers: Program[] = [
  ...group(0.1, {
    'a printed answer': 'print(\'{"ok":true,"value":1.0}\')\nreturn 0.1',
    'json patched': 'import json\njson.dumps = lambda *a, **k: "7"\nreturn 0.1',
    'writes to stdout itself': 'import os\nos.write(1, b"9"); os.write(2, b"9")\nreturn 0.1',
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
    'a call for the record and a score at once':
      'import os, struct\nask, own = (struct.pack(">IBdiiHH", 21, kind, 0.9, 0, 0, 0, 0) for kind in (3, 1))\nos.write(3, ask + own); os._exit(0)',
    'a second call for the record':
      'import os, struct\nask = struct.pack(">IBdiiHH", 21, 3, 0, 0, 0, 0, 0)\nos.write(3, ask); os.read(3, 4096); os.write(3, ask)\nwhile True: os.read(3, 4096)',
    'an answer longer than it is':
      'import os, struct\nos.write(3, struct.pack(">IBdiiHH", 21, 2, 0, 0, 0, 9, 9)); os._exit(0)',
    'the answer that its caller would give, and then its own':
      'import sys\nf = sys._getframe(1)\nwhile "printed" not in f.f_locals: f = f.f_back\nf.f_globals["answer"](1, f.f_locals["printed"], score=0.9)\nreturn 0.5',
    'a failure that would be tried again':
      'import sys\nraise sys._getframe(1).f_globals["Failure"]("sandbox_crashed", "x")',
    'an answer without end': 'import os, struct\nos.write(3, struct.pack(">I", 2**31)); os._exit(0)',
  }),
  // The code decides its own score anyway.
  ...group(0.9, {
    'an answer of its own, byte by byte':
      'import os, struct\nfor b in struct.pack(">IBdiiHH", 21, 1, 0.9, 0, 0, 0, 0): os.write(3, bytes([b]))\nos._exit(0)',
  }),
  ...group(['py_no_result'], {
    'nobody to answer':
      'import sys\nf = sys._getframe(1)\nwhile "printed" not in f.f_locals: f = f.f_back\nf.f_globals["_write"] = lambda fd, b: len(b)\nreturn 1',
  }),
  ...group(['py_no_result'], { 'all descriptors closed': 'import os\nos.closerange(0, 100)\nreturn 1' }),
];
