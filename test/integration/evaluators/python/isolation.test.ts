import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../evaluators/python/mod.ts';
import { brief, define, openSandbox, TIERS_HERE } from './support/sandbox.ts';

const SECRET = 'TENANT-A-0123456789';
/** For evaluations that must not fail on a busy machine. Other limits of CPU would need children that do not wait idle. */
const AMPLE = { ...DEFAULT_LIMITS, wallMs: 60_000 };

/**
 * Searches for the secret everywhere Python allows: frames, objects, and the mapped memory around its own objects, page by
 * page. The pattern does not match its own source, so that no source or constant is found.
 */
const SEARCH = `
import ctypes, gc, re, sys
gc.unfreeze()
libc = ctypes.CDLL(None, use_errno=True)
pattern = re.compile("TENANT[-]A[-]0123456789")
raw = re.compile(b"TENANT[-]A[-]0123456789")
found = 0
frame = sys._getframe(0).f_back
while frame:
    for value in (*frame.f_locals.values(), *frame.f_globals.values()):
        found += bool(pattern.search(str(value)))
    frame = frame.f_back
for thing in gc.get_objects():
    for text in gc.get_referents(thing):
        found += type(text) is str and bool(pattern.search(text))
        found += type(text) is bytes and bool(raw.search(text))
def is_mapped(address):
    # Its first parameter is wrong, which the kernel says only once it has read from the address.
    libc.syscall(14, 99, ctypes.c_void_p(address), None, 8)
    return ctypes.get_errno() != 14
pages = set()
for thing in (object(), "x" * 5_000, bytearray(100), bytearray(3_000_000), {}, [1], gc, ctypes.c_char()):
    for step in (4096, -4096):
        page = id(thing) & ~4095
        while page not in pages and len(pages) < 8_000 and is_mapped(page):
            pages.add(page)
            found += len(raw.findall(ctypes.string_at(page, 4096)))
            page += step
if len(pages) < 500: raise RuntimeError(f"{len(pages)} pages are too few to have looked")
return found`;

for (const wantedTier of TIERS_HERE) {
  t.test(`an evaluation can read nothing of another one, tier ${wantedTier}`, async (t) => {
    const sandbox = await openSandbox(t, { wantedTier, concurrency: 3 });
    const keep = define(`
import builtins, json, os, sys
builtins.leak = json.leak = sys.leak = os.leak = input
sys.modules["leak"] = sys
print(input)
import time; time.sleep(0.3)
return 1`);
    const before = sandbox.evaluate({ code: keep, input: SECRET, output: SECRET, limits: AMPLE });
    await before;
    const during = sandbox.evaluate({ code: keep, input: SECRET, output: SECRET, limits: AMPLE });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const searches = await Promise.all(
      Array.from({ length: 4 }, () =>
        sandbox.evaluate({ code: define(SEARCH), input: 'b', output: 'b', limits: AMPLE }),
      ),
    );
    for (const { outcome } of searches) t.equal(brief(outcome), 0, JSON.stringify(outcome));
    const patched = await sandbox.evaluate({
      code: define(
        'import builtins, json, sys, os\nreturn sum(hasattr(m, "leak") for m in (builtins, json, sys, os)) + ("leak" in sys.modules)',
      ),
      input: '',
      output: '',
      limits: AMPLE,
    });
    t.equal(brief(patched.outcome), 0, 'a module patched by one evaluation is unchanged in the next');
    t.equal((await during).traces, `${SECRET}\n`);
  });
}

t.test('the search for a secret finds one in its own process', async (t) => {
  const sandbox = await openSandbox(t);
  const { outcome } = await sandbox.evaluate({
    code: define(SEARCH),
    input: SECRET,
    output: SECRET,
    limits: AMPLE,
  });
  t.ok(outcome.state === 'completed' && outcome.score! > 0, JSON.stringify(outcome));
});

t.test(
  'children of different slots have different users where there is root',
  { skip: process.getuid?.() !== 0 && 'only root can give each child a user of its own' },
  async (t) => {
    const sandbox = await openSandbox(t, { concurrency: 3, wantedTier: 'chroot' });
    const code = define(
      'import os, time\ntime.sleep(0.1)\nreturn os.getuid() if os.getuid() == os.geteuid() == os.getgid() else 0',
    );
    const results = await Promise.all(
      [1, 2, 3].map(() => sandbox.evaluate({ code, input: '', output: '', limits: AMPLE })),
    );
    const users = results.map(({ outcome }) => Number(brief(outcome)));
    t.equal(new Set(users).size, 3);
    t.ok(users.every((user) => user >= 64_200));
  },
);
