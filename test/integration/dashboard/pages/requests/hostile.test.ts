import type { Page } from 'playwright-core';
import { MAX_SCORE_KEY_LENGTH } from '#core/contracts/query.ts';
import { addCondition } from '../../../../../dashboard/parts/query-bar/edit.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import type { StoryOrganization } from '../../../../support/browser/product.ts';
import { settles } from '../../../../support/browser/settles.ts';
import { startAttacker } from '../../../../support/hostile/attacker.ts';
import { storableText, type Third, thirdOfHostileTexts } from '../../../../support/hostile/mod.ts';

/** Texts of one page: columns of a list, which shows up to 50. */
const IN_GROUP = 30;
/** UTF-16 code units: an index holds no longer ones. */
const LONGEST = 200;
const LONGEST_NAME = 100;
const HOUR_MS = 3_600_000;
const OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
/** The fields that all requests have, and the first properties. */
const OPEN_FACETS =
  "[...document.querySelectorAll('details.facet')].slice(0, 12).forEach((one) => { one.open = true; })";
const TALL = { context: { viewport: { width: 1_800, height: 2_400 } } };

/** Returns texts that the database takes, each once. */
function storableTexts(attacker: string, third: Third, longest: number): string[] {
  const texts = thirdOfHostileTexts(attacker, third).map(({ text }) => storableText(text, longest));
  return [...new Set(texts)].filter((text) => text !== '');
}

type Group = { texts: string[]; range: string; ids: string[] };

/** Puts each text into every field of a record; the first record of each hour has all of its group as properties, too. */
async function insertAll(organization: StoryOrganization, texts: readonly string[]): Promise<Group[]> {
  const groups: Group[] = [];
  const hour = Math.floor(Date.now() / HOUR_MS);
  for (let at = 0; at < texts.length; at += IN_GROUP) {
    const some = texts.slice(at, at + IN_GROUP);
    const from = (hour - groups.length - 1) * HOUR_MS;
    const records = await organization.insert(
      some.map((text, index) => ({
        created_at: new Date(from + index * 1_000),
        status: 400,
        model: text,
        request_model: text,
        provider: text,
        error_code: text,
        user_id: text,
        session_id: text,
        session_name: text,
        session_path: text,
        prompt_id: text,
        prompt_version: text,
        experiment_id: text,
        response_id: text,
        cached_from: text,
        path: text,
        preview_in: text,
        preview_out: text,
        scores: { [storableText(text, MAX_SCORE_KEY_LENGTH)]: index },
        properties: index > 0 ? { Plan: text } : Object.fromEntries(some.map((one) => [one, one])),
        request_text: JSON.stringify({ [text]: text, messages: [{ role: text, content: text }] }),
        response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: text } }] }),
      })),
    );
    const range = `${new Date(from).toISOString()}..${new Date(from + HOUR_MS).toISOString()}`;
    groups.push({ texts: some, range, ids: records.map(({ request_id: id }) => id) });
  }
  return groups;
}

const COLUMNS = [
  'model',
  'provider',
  'request_user_id',
  'preview_in',
  'preview_out',
  'session_id',
  'session_path',
  'prompt_id',
  'error_code',
  'scores',
];
const inColumns = (name: string) => `property:${name.replaceAll('%', '%25').replaceAll(',', '%2C')}`;
const address = (path: string, query: Record<string, string>) => `${path}?${new URLSearchParams(query)}`;

async function showList(page: Page, { texts, range, ids }: Group): Promise<void> {
  const cols = [...COLUMNS, ...texts.map(inColumns)].join(',');
  await page.goto(address('/requests', { range, cols, facets: '1', r: ids[0]!, tab: 'properties' }));
  await page
    .locator('.grid-row')
    .nth(texts.length - 1)
    .waitFor();
  await page.locator('.drawer .table tbody tr').first().waitFor();
  await page.evaluate(OPEN_FACETS);
  await page.locator('.facet-row').first().waitFor();
  for (const field of ['model:', 'session:', 'property.Plan:', 'scores.']) {
    // By its class: to find a role, all cells would be looked at.
    await page.locator('textarea.query-bar-field').fill(field);
    await page.locator('.query-bar-options [role=option]').first().waitFor();
  }
}

async function showChips(page: Page, { texts, range }: Group): Promise<void> {
  const q = texts.reduce((so, text, index) => {
    const next = addCondition(so, index % 2 === 0 ? 'user' : 'property.Plan', text, { exclude: true });
    return next.length > 4_000 ? so : next;
  }, 'status:999');
  await page.goto(address('/requests', { range, q }));
  await page.getByText('No request passes this query in this range.').waitFor();
}

async function showOverview(page: Page, { range }: Group): Promise<void> {
  await page.goto(address('/', { range }));
  await page.locator('svg').first().waitFor();
  await page.evaluate(OPEN_ALL);
}

async function showComparison(page: Page, { ids }: Group): Promise<void> {
  await page.goto(address('/compare', { ids: ids.slice(0, 4).join(',') }));
  await page.locator('.compare-side').first().waitFor();
  await page.evaluate(OPEN_ALL);
}

story(
  'No text of the corpus runs, asks anybody or violates the policy in the list, the overview or a comparison',
  async ({ t, page, organization }) => {
    const attacker = await startAttacker(t);
    const texts = storableTexts(attacker.origin, 0, LONGEST);
    t.ok(texts.length >= 190, 'the corpus is as large as it should be');
    const groups = await insertAll(organization, texts);
    for (const [index, group] of groups.entries()) {
      for (const show of [showList, showChips, showOverview, showComparison]) {
        await show(page, group);
        await settles(page);
        t.equal(await page.evaluate('globalThis.__pwned'), undefined, `${show.name} ${index}: nothing ran`);
        t.equal(
          await page.evaluate('({}).polluted'),
          undefined,
          `${show.name} ${index}: no prototype changed`,
        );
      }
    }
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('combobox', { name: 'A page, an id, or a text' });
    for (const text of texts) await palette.fill(text);
    await settles(page);
    t.equal(await page.evaluate('globalThis.__pwned'), undefined, 'the palette: nothing ran');
    t.same(attacker.asked, [], 'nobody was asked');
  },
  TALL,
);

story(
  'No name of an evaluator or of a view runs, asks anybody or violates the policy',
  async ({ t, page, organization, product }) => {
    const attacker = await startAttacker(t);
    const texts = storableTexts(attacker.origin, 2, LONGEST_NAME);
    await organization.insert([{ user_id: 'anna' }]);
    const { sql } = product.database;
    const { organizationId } = organization;
    const evaluators = await sql<{ evaluator_id: string }[]>`insert into assay.evaluators ${sql(
      texts.map((name, index) => ({
        organization_id: organizationId,
        name,
        score_key: `key_${index}`,
        scoring_type: 'EXTERNAL',
        created_at: new Date(),
        updated_at: new Date(),
      })),
    )} returning evaluator_id`;
    await sql`insert into assay.evaluator_versions ${sql(
      evaluators.map(({ evaluator_id }) => ({
        evaluator_id,
        version: 1,
        organization_id: organizationId,
        external_config: sql.json({ url: 'https://example.com' }),
        created_at: new Date(),
      })),
    )}`;
    await sql`insert into assay.views ${sql(
      texts.map((name, index) => ({
        organization_id: organizationId,
        page: 'requests',
        name,
        folded_name: `${index}`,
        query: 'q=user:anna',
        created_at: new Date(),
        updated_at: new Date(),
      })),
    )}`;
    await page.goto('/requests');
    await page.getByRole('checkbox').first().click();
    await page.getByRole('button', { name: 'Score with an evaluator' }).click();
    await page.getByRole('option').nth(100).waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.locator('.views li').nth(100).waitFor();
    await page
      .getByRole('button', { name: /^Delete the view/ })
      .first()
      .click();
    await page.getByRole('dialog').waitFor();
    await settles(page);
    t.equal(await page.evaluate('globalThis.__pwned'), undefined, 'nothing ran');
    t.same(attacker.asked, [], 'nobody was asked');
  },
);

story(
  'Characters that reorder or hide a text are marks in rows, titles, chips, facets, completions and messages',
  async ({ t, page, organization, expectComplaint }) => {
    const text = 'a\u202egpj.exe';
    await organization.insert([
      { user_id: text, preview_in: text, scores: { [text]: 1 }, properties: { [text]: text } },
    ]);
    const cols = ['request_user_id', 'preview_in', 'scores', inColumns(text)].join(',');
    const q = addCondition('', 'user', text, { exclude: false });
    await page.goto(address('/requests', { cols, q, facets: '1' }));
    await page.locator('.grid-row').waitFor();
    // The field of a condition is open.
    await page.locator('.facet-value .text-mark').first().waitFor();
    const marks = (within: string) => page.locator(`${within} .text-mark`).count();
    await comesTo(
      t,
      async () =>
        [await marks('.grid-row'), await marks('.grid th'), await marks('.chip')].map((count) => count > 0),
      [true, true, true],
    );
    await page.getByRole('textbox', { name: 'Query' }).fill('user:a');
    await page.locator('[role=option] .text-mark').waitFor();
    const body = JSON.stringify({ data: null, error: `Cannot read ${text}` });
    await page.route('**/v1/request/rows', (route) => route.fulfill({ status: 400, body }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').locator('.text-mark').waitFor();
    expectComplaint(/status of 400/);
  },
);
