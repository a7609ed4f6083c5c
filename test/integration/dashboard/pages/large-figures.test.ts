/** Lists give their columns a width: a figure that is cut, such as 128,0…, reads like another one. */
import type { Page } from 'playwright-core';
import { story } from '../../../support/browser/mod.ts';

/** Figures of long runs of agents. */
const LARGE = {
  user_id: 'agent',
  session_id: 'run',
  session_path: '/plan',
  latency_ms: 3_599_000,
  ttft_ms: 754_000,
  prompt_tokens: 1_048_576,
  completion_tokens: 128_000,
  total_tokens: 1_176_576,
  cost_nano: 1_234_560_000_000,
  truncated: true,
};
const PLACES = [
  { path: '/requests', shows: ['59 min 59 s', '1,176,576', '$1,234.56'] },
  {
    path: '/requests?cols=model,preview_in,delay_ms,time_to_first_token,prompt_tokens,completion_tokens,cost',
    shows: ['12 min 34 s', '1,048,576', '128,000'],
  },
  { path: '/sessions/run', shows: ['59 min 59 s', '11,765,760', '$12,345.60'] },
  { path: '/sessions/run?tab=waterfall', shows: ['59 min 59 s', '$1,234.56', '$12,345.60'] },
];

/** Returns the figures of a list, and the states of answers, that have less room than they need. */
const cutFigures = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('td.number, td:has(.chip)')].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)",
  );

for (const width of [390, 768, 1_280])
  story(`On a screen of ${width} pixels no list cuts large figures`, async ({ t, page, organization }) => {
    await organization.insert(Array.from({ length: 10 }, () => LARGE));
    await page.setViewportSize({ width, height: 800 });
    for (const { path, shows } of PLACES) {
      await page.goto(path);
      for (const text of shows) await page.getByRole('cell', { name: text }).first().waitFor();
      t.strictSame(await cutFigures(page), [], path);
    }
  });
