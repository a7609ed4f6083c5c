/** Runs stories; mod.ts says how they are written. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import type { Scope } from '#platform/keys/mod.ts';
import { findBarriers } from './accessibility.ts';
import { chromiumIsMissing, launchChromium } from './chromium.ts';
import { type Complaints, collectComplaints } from './complaints.ts';
import { type CallPath, type Product, type StoryOrganization, startProduct } from './product.ts';
import { signIn } from './sign-in.ts';
import { openSlowedPage, slowdown } from './slowdown.ts';

/** What a story has. */
export type Stage = {
  t: Test;
  page: Page;
  context: BrowserContext;
  /** The story's own; the page is logged in with its key. */
  organization: StoryOrganization;
  product: Product;
  /** Starts gateway, ingest and evaluators at the first call of a file, with a scripted provider. */
  callPath(): Promise<CallPath>;
  /**
   * Allows complaints that match, of which there must be at least one: `/status of 503/` for an answer that the story provokes.
   * Called when the page has done it.
   */
  expectComplaint(pattern: RegExp): void;
};

export type StoryOptions = {
  /** Opens another browser context than one in English, UTC, light, 1440 pixels wide. */
  context?: Parameters<Browser['newContext']>[0];
  /** Scopes of the key that the page is logged in with; `gateway`, `read` and `write` otherwise. None: nobody is logged in. */
  scopes?: readonly Scope[];
};

type Setting = { browser: Browser; product: Product };

const CONTEXT = { viewport: { width: 1_440, height: 900 }, locale: 'en-US', timezoneId: 'UTC' };
const SCOPES = ['gateway', 'read', 'write'] as const;
/** Longer than any step takes on a busy machine; shorter than a file may take, so that the failure says which step it was. */
const STEP_TIMEOUT_MS = 60_000;
/** Longer than any story takes on a busy machine: what a page computes, and a store, have no limit of a step. */
const STORY_TIMEOUT_MS = 300_000;
const CLOSE_TIMEOUT_MS = 10_000;
/** Time of .taprc for a file; a slowed one has as many times that. */
const FILE_TIMEOUT_MS = 900_000;

let setting: Promise<Setting> | undefined;

/** Starts Chromium and the product, both until the end of the file. */
async function startSetting(): Promise<Setting> {
  if (slowdown() > 1) t.setTimeout(FILE_TIMEOUT_MS * slowdown());
  const [browser, product] = await Promise.all([launchChromium(), startProduct(t)]);
  // Added last, so done first: the API waits for its connections when it stops.
  t.teardown(() => browser.close());
  return { browser, product };
}

async function setStage(t: Test, options: StoryOptions): Promise<Stage & { complaints: Complaints }> {
  setting ??= startSetting();
  const { browser, product } = await setting;
  const { scopes = SCOPES } = options;
  const organization = await product.organization(scopes.length > 0 ? scopes : SCOPES);
  const context = await browser.newContext({ ...CONTEXT, baseURL: product.url, ...options.context });
  t.teardown(() => context.close());
  context.setDefaultTimeout(STEP_TIMEOUT_MS * slowdown());
  const complaints = await collectComplaints(context, product.url);
  const { sql } = product.database;
  if (scopes.length > 0) await signIn(context, { ...organization, sql, url: product.url });
  const page = await openSlowedPage(context, t.name);
  return {
    t,
    page,
    context,
    organization,
    product,
    complaints,
    callPath: () => product.callPath(),
    expectComplaint: (pattern) => t.ok(complaints.take(pattern) > 0, `the page complains: ${pattern}`),
  };
}

type Shown = Pick<Stage, 't' | 'page'> & { complaints: Complaints };

/** Says what the page shows and complains of, which is most often why an element does not come. */
async function sayWhatIsShown({ t, page, complaints }: Shown): Promise<void> {
  const shown = await page
    .locator('body')
    .ariaSnapshot()
    .catch(() => '');
  t.comment(`${page.url()} shows:\n${shown}`, complaints.list());
}

/** Tells a story; one that waits for ever fails at the line that waits. */
async function tellInTime(tell: (stage: Stage) => Promise<void>, stage: Stage, shown: Shown): Promise<void> {
  const timeoutMs = STORY_TIMEOUT_MS * slowdown();
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(async () => {
    isLate = true;
    stage.t.comment(`The story takes more than ${timeoutMs} ms`);
    await sayWhatIsShown(shown);
    // A step that waits for the page rejects by this, and so names its line.
    await Promise.race([
      stage.context.close().catch(() => {}),
      sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    late.reject(new Error(`The story takes more than ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    await Promise.race([tell(stage), late.promise]);
    // A story that bears the end of its page is late nevertheless.
    if (isLate) await late.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Declares a test of pages. */
export function story(
  title: string,
  tell: (stage: Stage) => Promise<void>,
  options: StoryOptions = {},
): void {
  void t.test(title, { skip: chromiumIsMissing() }, async (t) => {
    const { complaints, ...stage } = await setStage(t, options);
    const shown = { ...stage, complaints };
    try {
      await tellInTime(tell, stage, shown);
    } catch (error) {
      if (!stage.page.isClosed()) await sayWhatIsShown(shown);
      throw error;
    }
    t.same(complaints.list(), [], 'the page behaved');
  });
}

/** Declares a test that the page which `arrange` leaves has no barrier, in both themes and three widths. */
export function accessibleStory(
  title: string,
  arrange: (stage: Stage) => Promise<void>,
  options: StoryOptions = {},
): void {
  // axe is injected, which the policy forbids.
  const context = { ...options.context, bypassCSP: true };
  story(
    title,
    async (stage) => {
      await arrange(stage);
      stage.t.same(await findBarriers(stage.page), [], 'axe finds nothing');
    },
    { ...options, context },
  );
}
