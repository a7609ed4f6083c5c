/** The client of `npm run bench export`: takes one export, and sends its parent what came. */
import { setTimeout as sleep } from 'node:timers/promises';

/** An export to take; slowly when `bytesPerSecond` is given. */
export type ExportCase = { url: string; key: string; body: object; bytesPerSecond?: number };
/** What came of it. */
export type ExportResult = { records: number; bytes: number; ms: number };

const LINE_FEED = 0x0a;

async function take({ url, key, body, bytesPerSecond }: ExportCase): Promise<ExportResult> {
  const start = performance.now();
  const answer = await fetch(`${url}/v1/request/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  let [records, bytes] = [0, 0];
  for await (const piece of answer.body!) {
    bytes += piece.length;
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, at + 1)) records += 1;
    if (bytesPerSecond === undefined) continue;
    const aheadMs = (bytes / bytesPerSecond) * 1_000 - (performance.now() - start);
    if (aheadMs > 0) await sleep(aheadMs);
  }
  return { records, bytes, ms: performance.now() - start };
}

process.send!(await take(JSON.parse(process.argv[2]!)), () => process.disconnect());
