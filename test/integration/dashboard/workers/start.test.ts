import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { comesTo, comesToMatch } from '../../../support/browser/comes-to.ts';
import { story } from '../../../support/browser/mod.ts';

const MANIFEST = join(import.meta.dirname, '../../../../dashboard/dist/manifest.json');

/** Returns the error of a statement in the page; null: there was none. */
const errorOf = (statement: string) =>
  `(() => { try { ${statement}; return null; } catch (error) { return error.name + ': ' + error.message; } })()`;

story('No text becomes a script, a worker or HTML on a page', async ({ t, page, expectComplaint }) => {
  await page.goto('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const statement of [
    "new Worker('/assets/any.js')",
    "document.body.innerHTML = '<img>'",
    "document.createElement('script').src = '/assets/any.js'",
    "trustedTypes.createPolicy('another', {})",
  ]) {
    await comesToMatch(
      t,
      () => page.evaluate(errorOf(statement)),
      /^TypeError: .*(TrustedScript|TrustedHTML|Policy)/,
    );
  }
  expectComplaint(/'Trusted(HTML|ScriptURL)' assignment|Violation of require-trusted-types-for/);
  expectComplaint(/trusted-types assay-workers|Violation of trusted-types/);
});

story('Whatever runs in a worker of a page reaches the API alone', async ({ t, page, context }) => {
  // In place of the built worker, under its headers.
  const ATTACK =
    "fetch('http://127.0.0.1:9/').then(() => postMessage('reached'), ({ name }) => postMessage(name))";
  await context.route('**/assets/record-*.js', async (route) =>
    route.fulfill({ response: await route.fetch(), body: ATTACK }),
  );
  const { files } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    files: { name: string; source?: string }[];
  };
  const { name } = files.find(({ source }) => source === 'workers/record.ts')!;
  await page.goto('/nowhere');
  const start = `new Promise((resolve) => {
    const policy = trustedTypes.createPolicy('assay-workers', { createScriptURL: (url) => url });
    const worker = new Worker(policy.createScriptURL('/assets/${name}'));
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(message);
  })`;
  await comesTo(t, () => page.evaluate(start), 'TypeError');
});
