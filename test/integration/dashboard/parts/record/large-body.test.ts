import { story } from '../../../../support/browser/mod.ts';
import { largeAndSmallRecord, openSmallRecord, readLargeRecord } from '../../../../support/large-record.ts';

/**
 * Notes what reaches the page's own thread: which addresses it fetches, and how large the largest message of a worker is, in
 * UTF-16 code units and bytes. Runs in no worker.
 */
const WATCH = `
  globalThis.reached = { fetched: [], largestMessage: 0 };
  const ownFetch = globalThis.fetch;
  globalThis.fetch = (...given) => {
    globalThis.reached.fetched.push(new URL(given[0].url ?? given[0], location.href).pathname);
    return ownFetch(...given);
  };
  const sizeOf = (value) => {
    if (typeof value === 'string') return value.length;
    if (value === null || typeof value !== 'object') return 1;
    return value.byteLength ?? Object.entries(value).reduce((sum, [name, one]) => sum + name.length + sizeOf(one), 0);
  };
  globalThis.Worker = class extends globalThis.Worker {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => {
        globalThis.reached.largestMessage = Math.max(globalThis.reached.largestMessage, sizeOf(data));
      });
    }
  };`;

/** A busy machine takes long for 32 MiB. Decides only how late a step that never ends is reported. */
const STEP_TIMEOUT_MS = 120_000;

type Reached = { fetched: string[]; largestMessage: number };

story(
  'A record of 32 MiB is read, searched and scrolled, and the thread of the page never holds a body of it',
  async ({ t, page, organization }) => {
    page.setDefaultTimeout(STEP_TIMEOUT_MS);
    const [large, small] = await organization.insert(largeAndSmallRecord());
    await page.addInitScript({ content: WATCH });
    await openSmallRecord(page, small!.request_id);
    await readLargeRecord(page, large!.request_id);
    t.match(page.url(), 'p=request.needle', 'what was found is in the address');
    const { fetched, largestMessage } = await page.evaluate<Reached>('globalThis.reached');
    t.ok(fetched.length > 0, 'what the page fetches is seen');
    t.notOk(fetched.includes(`/v1/request/${large!.request_id}`), 'a worker fetches the record');
    t.ok(largestMessage > 1_000, 'messages of workers are seen');
    // A text comes in parts of 64 KiB.
    t.ok(largestMessage < 1_048_576, `the largest message of a worker has ${largestMessage} characters`);
  },
);
