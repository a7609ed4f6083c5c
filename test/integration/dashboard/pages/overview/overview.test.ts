/** The overview in a browser: what a drag, a click, a key and a failing API do. */

import type { Page } from 'playwright-core';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { becomesTrue } from '../../../../support/browser/becomes-true.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { tryAgain } from '../../../../support/browser/try-again.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MIDNIGHT = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Ten whole days that have passed, in the browser's time zone, which is UTC. */
const DAYS = { from: MIDNIGHT - 10 * DAY_MS, to: MIDNIGHT };
const nameOf = ({ from, to }: { from: number; to: number }) =>
  `${new Date(from).toISOString()}..${new Date(to).toISOString()}`;
const TEN_DAYS = `/?range=${nameOf(DAYS)}`;

/** Inserts some requests for each day: one more each day, every third of them failed. */
async function insertDays({ organization }: Stage): Promise<void> {
  const requests = Array.from({ length: 10 }, (_, day) =>
    Array.from({ length: day + 1 }, (_, index) => ({
      created_at: new Date(DAYS.from + day * DAY_MS + HOUR_MS + index * MINUTE_MS),
      status: index % 3 === 2 ? 500 : 200,
      request_model: index % 2 === 0 ? 'gpt-4o' : 'claude-sonnet-4',
      response_model: index % 2 === 0 ? 'gpt-4o' : 'claude-sonnet-4',
      model: index % 2 === 0 ? 'gpt-4o' : 'claude-sonnet-4',
      latency_ms: 100 * (index + 1),
      cost_nano: 1_000_000,
      user_id: 'ada',
      scores: { helpful: index },
    })),
  );
  await organization.insert(requests.flat());
}

const chart = (page: Page, name: string) => page.getByRole('figure', { name, exact: true });
const drawing = (page: Page, name: string) => chart(page, name).getByRole('slider');

/** Waits until all that stands above and among the charts is there: what comes later moves them. */
async function waitForLayout(page: Page): Promise<void> {
  // No role but the API runs.
  await page.getByRole('link', { name: 'System degraded' }).waitFor();
  // The tiles of scores are the last ones.
  await page.locator('.tile').filter({ hasText: 'helpful' }).waitFor();
  await page.locator('.chart-waiting').first().waitFor({ state: 'detached' });
}

/** Returns the place of the drawing itself, once it is there and nothing moves it any more. */
async function boxOf(page: Page, name: string) {
  await waitForLayout(page);
  const area = chart(page, name).locator('.u-over');
  await area.waitFor();
  // The figure stays when its drawing is made anew for a later answer.
  await chart(page, name).scrollIntoViewIfNeeded();
  return (await area.boundingBox())!;
}

/** Returns the query string of the address. */
const asked = (page: Page) => new URL(page.url()).searchParams;

/** Returns the answer of the API to the query that a chart shows. */
async function answerOf(stage: Stage, body: object): Promise<MetricsAnswer> {
  const response = await fetch(`${stage.product.url}/v1/metrics/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.organization.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ range: DAYS, ...body }),
  });
  const { data } = (await response.json()) as { data: MetricsAnswer };
  return data;
}

story(
  'A drag over days of a chart sets the range of the address for all charts, and a step back restores it',
  async (stage) => {
    const { t, page } = stage;
    await insertDays(stage);
    await page.goto(TEN_DAYS);
    const { x, y, width, height } = await boxOf(page, 'Requests');
    await page.mouse.move(x + width * 0.22, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.3, y + height / 2);
    await page.mouse.move(x + width * 0.48, y + height / 2);
    await page.mouse.up();
    // From within the third day to within the fifth.
    const zoomed = { from: DAYS.from + 2 * DAY_MS, to: DAYS.from + 5 * DAY_MS };
    await page.waitForURL((url) => url.searchParams.get('range') === nameOf(zoomed));
    await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('12', { exact: true }).waitFor();
    await page.goBack();
    await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('55', { exact: true }).waitFor();
    t.equal(asked(page).get('range'), nameOf(DAYS));
  },
);

story(
  'A click on a bar leads to the requests of its series and bucket, under the query of the page',
  async (stage) => {
    const { t, page } = stage;
    await insertDays(stage);
    await page.goto(`${TEN_DAYS}&q=user:ada`);
    const { x, y, width, height } = await boxOf(page, 'Requests');
    // Near the foot of the last day's bar, which stands on those of success.
    await page.mouse.move(x + width * 0.9, y + height - 8);
    await page.mouse.click(x + width * 0.95, y + height - 8);
    await page.waitForURL((url) => url.pathname === '/requests');
    t.equal(asked(page).get('q'), '(user:ada) status:200..300 -source:experiment');
    t.equal(asked(page).get('range'), nameOf({ from: DAYS.to - DAY_MS, to: DAYS.to }));
  },
);

story('The link of a series in the legend leads to its requests of the whole range', async (stage) => {
  const { t, page } = stage;
  await insertDays(stage);
  await page.goto(TEN_DAYS);
  await chart(page, 'Requests').getByRole('link', { name: 'Requests: 5xx server error' }).click();
  await page.waitForURL((url) => url.pathname === '/requests');
  t.equal(asked(page).get('q'), 'status:500..600 -source:experiment');
  t.equal(asked(page).get('range'), nameOf(DAYS));
});

story(
  'The links of figures lead to as many requests, without the calls of experiments, unless the query asks for these',
  async ({ t, page, organization }) => {
    const of = (count: number, source: string) => Array.from({ length: count }, () => ({ source }));
    await organization.insert([...of(3, 'gateway'), ...of(4, 'experiment')]);
    const follow = async (address: string) => {
      await page.goto(address);
      const link = chart(page, 'Requests').getByRole('link', { name: 'Requests: 2xx success' });
      await link.click();
      return asked(page).get('q');
    };
    t.equal(await follow('/?range=24h'), 'status:200..300 -source:experiment');
    await page.getByText('3 requests', { exact: true }).waitFor();
    t.equal(await follow('/?range=24h&q=source:experiment'), '(source:experiment) status:200..300');
    await page.getByText('4 requests', { exact: true }).waitFor();
  },
);

type Label = { text: string; left: number; right: number; width: number };

/** Notes each label that is drawn: its text, its ends, and the width of what it is drawn on. */
const NOTE_LABELS = `
  globalThis.labels = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
    const { width } = this.measureText(text);
    const left = x - ({ center: width / 2, right: width, end: width }[this.textAlign] ?? 0);
    labels.push({ text, left, right: left + width, width: this.canvas.width });
    fillText.call(this, text, x, ...rest);
  };`;

story('The labels of axes are drawn whole, also of large amounts', async (stage) => {
  const { t, page, organization } = stage;
  await page.addInitScript(NOTE_LABELS);
  await organization.insert([
    { cost_nano: 77_777_780_000_000, latency_ms: 4_211_000, created_at: new Date(DAYS.to - HOUR_MS) },
    { cost_nano: 1, scores: { helpful: 12_345_678 }, created_at: new Date(DAYS.to - DAY_MS) },
  ]);
  await page.goto(TEN_DAYS);
  await boxOf(page, 'Means of scores');
  const drawn = await page.evaluate<Label[]>('labels');
  const has = (text: RegExp) => drawn.some((label) => text.test(label.text));
  t.ok(has(/^\$[\d,]{6}\.00$/) && has(/^\d+,000,000$/), 'large ones are there');
  t.same(
    drawn.filter(({ left, right, width }) => left < 0 || right > width),
    [],
  );
});

story('The largest score stays within its tile', async ({ t, page, organization }) => {
  await organization.insert([{ created_at: new Date(), scores: { ended_ns: 1_790_000_000_000_000_000 } }]);
  await page.goto('/');
  await page.locator('.tile').filter({ hasText: 'ended_ns' }).waitFor();
  const wider =
    "[...document.querySelectorAll('.tile')].filter((one) => one.scrollWidth > one.clientWidth).length";
  await comesTo(t, () => page.evaluate<number>(wider), 0);
});

story('One failed request is counted as one', async ({ page, organization }) => {
  await organization.insert([{ status: 500 }, {}]);
  await page.goto('/');
  await page.locator('.tile').getByText('1 request', { exact: true }).waitFor();
});

/** Counts the pixels of a chart that have the color of a series in its legend. */
const PIXELS = `(() => {
  const swatch = document.querySelector('.chart-swatch[data-color=series-1]');
  const [red, green, blue] = getComputedStyle(swatch).backgroundColor.match(/[0-9]+/g).map(Number);
  const canvas = swatch.closest('figure').querySelector('canvas');
  if (canvas === null) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let pixels = 0;
  for (let at = 0; at < data.length; at += 4)
    pixels += data[at] === red && data[at + 1] === green && data[at + 2] === blue ? 1 : 0;
  return pixels;
})()`;

story(
  'In forced colors a chart has those of its legend, and what is chosen has another edge',
  async ({ t, page, organization }) => {
    await organization.insert([{ created_at: new Date() }]);
    await page.goto('/?range=24h');
    await chart(page, 'Requests').locator('canvas').waitFor();
    const edge = (isChosen: boolean) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector('fieldset [aria-pressed=${isChosen}], [role=group] [aria-pressed=${isChosen}]')).borderTopWidth`,
      );
    t.not(await edge(true), await edge(false));
    await comesTo(t, async () => (await page.evaluate<number>(PIXELS)) > 0, true);
  },
  { context: { forcedColors: 'active' } },
);

story('A value of a line is drawn where it is the only one', async ({ t, page, organization }) => {
  await organization.insert([{ latency_ms: 700, created_at: new Date(DAYS.to - 5 * DAY_MS) }]);
  // More buckets than there is room for points.
  await page.goto(`/?range=${nameOf({ from: DAYS.to - 7 * DAY_MS, to: DAYS.to })}`);
  await chart(page, 'Latency').locator('canvas').waitFor();
  const isDrawn = `(() => {
    const canvas = [...document.querySelectorAll('figure')]
      .find((figure) => figure.querySelector('h2').textContent === 'Latency')
      .querySelector('canvas');
    if (canvas === null) return false;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    // Labels have coloured edges, but none as green as the last of the three lines.
    return data.some((value, at) => at % 4 === 1 && value - data[at - 1] > 60 && value - data[at + 1] > 30);
  })()`;
  t.ok(await becomesTrue(page, isDrawn));
});

story('The table of a chart has what the API answers, bucket for bucket', async (stage) => {
  const { t, page } = stage;
  await insertDays(stage);
  await page.goto(TEN_DAYS);
  await chart(page, 'Requests').getByRole('button', { name: 'Requests, table' }).click();
  const rows = chart(page, 'Requests').getByRole('row');
  await rows.nth(10).waitFor();
  const shown = (await rows.allInnerTexts()).slice(1).map((row) => row.split('\t').slice(1).map(Number));
  const { series } = await answerOf(stage, {
    measures: [{ metric: 'requests', aggregate: 'count' }],
    groupBy: ['status'],
    bucket: 'day',
  });
  const counts = (status: number) =>
    series.find(({ group }) => String(group.status) === String(status))!.points.map(([, count]) => count);
  const [good, failed] = [counts(200), counts(500)];
  t.same(
    shown,
    good.map((count, index) => [count, failed[index]]),
  );
});

/** What the chart of latencies shows; undefined without a drawing. */
const LATENCY_PIXELS = `[...document.querySelectorAll('figure')]
  .find((figure) => figure.querySelector('h2').textContent === 'Latency')
  .querySelector('canvas')?.toDataURL()`;

story('A button of the legend hides a series, and shows it again', async (stage) => {
  const { t, page } = stage;
  await insertDays(stage);
  await page.goto(TEN_DAYS);
  await boxOf(page, 'Latency');
  const button = chart(page, 'Latency').getByRole('button', { name: /^p99/ });
  await comesTo(t, () => button.getAttribute('aria-pressed'), 'true');
  const canvas = chart(page, 'Latency').locator('canvas');
  await canvas.waitFor();
  await page.evaluate(`globalThis.drawn = ${LATENCY_PIXELS}`);
  await button.click();
  await comesTo(t, () => button.getAttribute('aria-pressed'), 'false');
  // A new drawing takes the place of the one before: for a moment there is none.
  const isWithout = `${LATENCY_PIXELS} !== undefined && ${LATENCY_PIXELS} !== globalThis.drawn`;
  t.ok(await becomesTrue(page, isWithout), 'it is drawn without the line');
  await button.click();
  t.ok(await becomesTrue(page, `${LATENCY_PIXELS} === globalThis.drawn`), 'it is drawn as before');
});

story('The comparison is in the address, and adds the period before to charts', async (stage) => {
  const { t, page } = stage;
  await insertDays(stage);
  const later = { from: DAYS.from + 5 * DAY_MS, to: DAYS.to };
  await page.goto(`/?range=${nameOf(later)}`);
  await chart(page, 'Latency').getByText('p99', { exact: true }).waitFor();
  await comesTo(t, () => chart(page, 'Latency').getByText('Period before').count(), 0);
  await page.getByRole('button', { name: 'Period before' }).click();
  await chart(page, 'Latency').getByText('Period before').waitFor();
  t.equal(asked(page).get('compare'), '1');
  // 40 requests in the last five days, 15 in the five before: 1 to 5.
  await chart(page, 'Requests').getByRole('button', { name: 'Requests, table' }).click();
  const rows = chart(page, 'Requests').getByRole('row');
  const before = (await rows.allInnerTexts()).slice(1).map((row) => Number(row.split('\t').at(-1)));
  t.same(
    before.filter((count) => count > 0),
    [1, 2, 3, 4, 5],
  );
  await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('+166.7%').waitFor();
});

story(
  'Arrows move through the buckets of all charts, Enter opens the requests, plus and minus zoom',
  async (stage) => {
    const { t, page } = stage;
    await insertDays(stage);
    await page.goto(TEN_DAYS);
    await boxOf(page, 'Errors');
    await drawing(page, 'Requests').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    const spoken = await drawing(page, 'Requests').getAttribute('aria-valuetext');
    t.match(spoken, /2xx success 6, 5xx server error 3$/);
    await comesToMatch(
      t,
      () => drawing(page, 'Errors').getAttribute('aria-valuetext'),
      /Status 500 3$/,
      'others follow',
    );
    await page.keyboard.press('+');
    const half = (DAYS.to - DAYS.from) / 4;
    const middle = DAYS.from + 8.5 * DAY_MS;
    await page.waitForURL(
      (url) => url.searchParams.get('range') === nameOf({ from: middle - half, to: middle + half }),
    );
    await page.goBack();
    await drawing(page, 'Requests').focus();
    await page.keyboard.press('-');
    await page.waitForURL((url) => {
      const [from, to] = url.searchParams
        .get('range')!
        .split('..')
        .map((moment) => Date.parse(moment));
      return to! - from! === 20 * DAY_MS;
    });
    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get('range') === nameOf(DAYS));
    await drawing(page, 'Requests').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/requests');
    t.equal(asked(page).get('range'), nameOf({ from: DAYS.from, to: DAYS.from + DAY_MS }));
  },
);

story('A click on a user filters the page by it, and a click with Alt excludes it', async (stage) => {
  const { page } = stage;
  await insertDays(stage);
  await stage.organization.insert([{ created_at: new Date(DAYS.to - HOUR_MS), user_id: 'bob' }]);
  await page.goto(TEN_DAYS);
  const users = page.getByRole('region', { name: 'Users' });
  await users.getByRole('link', { name: 'bob' }).click();
  await page.waitForURL((url) => url.searchParams.get('q') === 'user:bob');
  await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('1', { exact: true }).waitFor();
  await page.goBack();
  await users.getByRole('link', { name: 'bob' }).click({ modifiers: ['Alt'] });
  await page.waitForURL((url) => url.searchParams.get('q') === '-user:bob');
  await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('55', { exact: true }).waitFor();
  await users.getByRole('link', { name: 'bob' }).waitFor({ state: 'detached' });
});

story('The key t opens the time range, and a custom one goes to the address', async (stage) => {
  const { t, page } = stage;
  await insertDays(stage);
  await page.goto('/');
  await page.getByRole('button', { name: 'Custom…' }).waitFor();
  await page.keyboard.press('t');
  const dialog = page.getByRole('dialog', { name: 'Time range' });
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  await dialog.getByLabel('From').fill(day(DAYS.to));
  await dialog.getByLabel('To').fill(day(DAYS.from));
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.getByText('The range must end after its beginning').waitFor();
  await dialog.getByLabel('From').fill(day(DAYS.from));
  await dialog.getByLabel('To').fill(day(DAYS.to));
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL((url) => url.searchParams.get('range') === nameOf(DAYS));
  await comesTo(t, () => dialog.count(), 0);
  await page.getByRole('button', { name: '24h, last 24 hours' }).click();
  await page.waitForURL((url) => url.searchParams.get('range') === '24h');
});

story(
  'Without any request the page shows working calls, and turns to charts by itself at the first one',
  async (stage) => {
    const { t, page, organization } = stage;
    await page.goto('/');
    await page.getByRole('heading', { name: 'No request yet' }).waitFor();
    await page.getByRole('button', { name: 'OpenAI, Python' }).click();
    await comesToMatch(t, () => page.locator('pre').textContent(), /^from openai import OpenAI/);
    await organization.insert([{ created_at: new Date() }]);
    await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('1', { exact: true }).waitFor();
    await chart(page, 'Requests').locator('canvas').waitFor();
  },
);

story(
  'Before the first request the page leads to where the key of a provider is stored',
  async ({ page }) => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Provider keys' }).click();
    await page.getByRole('button', { name: 'Add a provider key' }).waitFor();
  },
);

story('A page opened at the end of a minute shows the first request of the next one', async (stage) => {
  const { page, organization } = stage;
  await page.clock.setFixedTime(MIDNIGHT - 1_000);
  await page.goto('/');
  await page.getByRole('heading', { name: 'No request yet' }).waitFor();
  await page.clock.setFixedTime(MIDNIGHT + 1_000);
  await organization.insert([{ created_at: new Date(MIDNIGHT + 1_000) }]);
  await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('1', { exact: true }).waitFor();
});

story('A range that ends now goes on with each minute of the clock', async (stage) => {
  const { page, organization } = stage;
  await organization.insert([{ created_at: new Date(MIDNIGHT - HOUR_MS), scores: { helpful: 1 } }]);
  await page.clock.install({ time: MIDNIGHT - 20_000 });
  await page.goto('/');
  const requests = page.locator('.tile').filter({ hasText: 'Requests' });
  await requests.getByText('1', { exact: true }).waitFor();
  await waitForLayout(page);
  await organization.insert([{ created_at: new Date(MIDNIGHT + 1_000) }]);
  await page.clock.fastForward(60_000);
  await requests.getByText('2', { exact: true }).waitFor();
});

story('Nothing in the range is no empty product', async (stage) => {
  const { t, page, organization } = stage;
  await organization.insert([{ created_at: new Date(DAYS.from) }]);
  await page.goto('/?range=1h');
  await chart(page, 'Requests').getByText('Nothing in this range').waitFor();
  await comesTo(t, () => page.getByText('No request yet').count(), 0);
});

story(
  "A query that the API refuses is answered with the API's own sentence, and a retry asks again",
  async (stage) => {
    const { page } = stage;
    await insertDays(stage);
    let isDown = true;
    await page.route('**/v1/metrics/query', async (route) => {
      if (!isDown) return await route.fallback();
      const error = 'The statement ran for 15 seconds; narrow the range';
      await route.fulfill({
        status: 503,
        headers: { 'service-request-id': 'one-of-many' },
        json: { data: null, error },
      });
    });
    await page.goto(TEN_DAYS);
    const notice = page.getByRole('alert').first();
    await notice.getByText('The statement ran for 15 seconds; narrow the range').waitFor();
    await notice.getByText('one-of-many').waitFor();
    isDown = false;
    await tryAgain(page);
    await chart(page, 'Requests').locator('canvas').waitFor();
    stage.expectComplaint(/status of 503/);
  },
);

accessibleStory('The overview has no barrier', async (stage) => {
  await insertDays(stage);
  await stage.page.goto(`${TEN_DAYS}&compare=1`);
  await boxOf(stage.page, 'Requests');
  await stage.page.getByRole('region', { name: 'Users' }).getByRole('link', { name: 'ada' }).waitFor();
  await chart(stage.page, 'Latency').getByRole('button', { name: 'Latency, table' }).click();
});

accessibleStory('The page before the first request has no barrier', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'No request yet' }).waitFor();
});

story(
  'A model and an API key of the lists, and a model of a chart, filter by what the lists count',
  async ({ t, page, organization }) => {
    const { keyId: api_key_id } = organization;
    // Without an answer, a request has a model nevertheless.
    await organization.insert([
      { model: 'gpt-5', request_model: 'openai/gpt-5', response_model: null, api_key_id, cost_nano: 5 },
      { model: 'gpt-5', response_model: 'gpt-5', cost_nano: 5 },
      { model: 'other', response_model: 'other', cost_nano: 5 },
    ]);
    await page.goto('/?range=24h');
    const list = (title: string) => page.getByRole('table', { name: title });
    const series = chart(page, 'Cost by model').getByRole('link', { name: 'Requests: gpt-5' });
    await comesToMatch(t, () => series.getAttribute('href'), 'q=model_used:gpt-5');
    await list('API keys').getByRole('link', { name: 'sk-assay-' }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === `api_key:${api_key_id}`);
    await page.goBack();
    await list('Models').getByRole('link', { name: 'gpt-5' }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === 'model_used:gpt-5');
    await page.locator('.tile').filter({ hasText: 'Requests' }).getByText('2', { exact: true }).waitFor();
  },
);
