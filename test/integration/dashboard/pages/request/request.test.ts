import type { Page } from 'playwright-core';
import { comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { gradeAs, gradesBy, makeCriterion, nameReviewer } from '../grading.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];

/** The tabs with something that each shows. */
const TABS: Readonly<Record<string, string>> = {
  '': 'What is the capital of Norway?',
  request: 'gpt-4o',
  response: 'choices',
  evaluations: 'No evaluator has judged this answer.',
  grades: 'Nobody has graded this answer.',
  delivery: 'Sent in one piece.',
  timeline: 'Waiting for the answer',
  properties: 'team "a"',
};

async function insert({ organization }: Pick<Stage, 'organization'>): Promise<string> {
  const [row] = await organization.insert([
    {
      user_id: 'anna',
      prompt_id: 'greeting',
      status: 500,
      error_code: 'provider_timeout',
      api_key_id: organization.keyId,
      latency_ms: 1_500,
      total_tokens: 12,
      prompt_tokens: 8,
      completion_tokens: 4,
      cost_nano: 1_200_000,
      properties: { Plan: 'team "a"' },
      scores: { helpful: 0.5 },
      request_text:
        '{"model":"gpt-4o","messages":[{"role":"user","content":"What is the capital of Norway?"}]}',
      response_text:
        '{"choices":[{"index":0,"message":{"role":"assistant","content":"Oslo"},"finish_reason":"stop"}]}',
    },
  ]);
  return row!.request_id;
}

const CALL = { name: 'refund', arguments: '{"order": 17, "whole": true, "note": null}' };

accessibleStory('The arguments of a tool call have no barrier', async ({ page, organization }) => {
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: CALL }],
  };
  const [row] = await organization.insert([
    { response_text: JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }) },
  ]);
  await page.goto(`/requests/${row!.request_id}`);
  await page.getByRole('treeitem', { name: 'order' }).waitFor();
});

const panel = (page: Page) => page.getByRole('tabpanel');

for (const [tab, text] of Object.entries(TABS)) {
  accessibleStory(`The tab ${tab || 'conversation'} of a request has no barrier`, async (stage) => {
    const id = await insert(stage);
    await stage.page.goto(`/requests/${id}${tab === '' ? '' : `?tab=${tab}`}`);
    await panel(stage.page).getByText(text).first().waitFor();
  });
}

story(
  'The request of another organization is not found, in the sentence of the API',
  async ({ page, organization, product }) => {
    const other = await product.organization(['read']);
    const id = await insert({ organization: other });
    await organization.insert([{}]);
    await page.goto(`/requests/${id}`);
    const notice = page.getByRole('alert');
    await notice.getByText(/not found|no request/i).waitFor();
    await notice.getByText('Request id').waitFor();
  },
);

story('Tabs are chosen by arrows, brackets and clicks, and are in the address', async (stage) => {
  const { t, page } = stage;
  await page.goto(`/requests/${await insert(stage)}`);
  await page.getByRole('tab', { name: 'Conversation' }).press('ArrowRight');
  await page.waitForURL(/tab=request/);
  await comesToMatch(t, () => page.evaluate('document.activeElement.textContent'), 'Raw request');
  await page.keyboard.press(']');
  await page.waitForURL(/tab=response/);
  await page.keyboard.press('[');
  await page.waitForURL(/tab=request/);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await panel(page).getByText('1.5 s').waitFor();
  await page.reload();
  await panel(page).getByText('1.5 s').waitFor();
});

story('A request is rated, scored, and given a property', async (stage) => {
  const { page } = stage;
  const id = await insert(stage);
  await page.goto(`/requests/${id}?tab=properties`);
  await page.getByRole('button', { name: 'Good' }).click();
  await page.getByRole('button', { name: 'Good', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Score', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Score this answer' });
  await dialog.getByLabel('Score key').fill('tone');
  await dialog.getByLabel('Score', { exact: true }).fill('0.25');
  await dialog.getByRole('button', { name: 'Score' }).click();
  await page.getByRole('link', { name: 'tone 0.25' }).waitFor();
  await page.getByLabel('Name').fill('Team');
  await page.getByLabel('Value').fill('blue');
  await page.getByRole('button', { name: 'Add' }).click();
  await panel(page).getByRole('link', { name: 'blue' }).waitFor();
  await page.reload();
  await panel(page).getByRole('link', { name: 'blue' }).waitFor();
  await page.getByRole('button', { name: 'Good', pressed: true }).waitFor();
  await page.getByRole('link', { name: 'tone 0.25' }).waitFor();
});

story(
  'A request opens whose scores are beyond 2^53, and they lead to the requests that share them',
  async (stage) => {
    const { page, organization } = stage;
    const [row] = await organization.insert([
      { scores: { ended_ns: 1_790_000_000_000_000_000, huge: 1e300 } },
    ]);
    await page.goto(`/requests/${row!.request_id}`);
    await page.getByRole('link', { name: /^ended_ns 1/ }).waitFor();
    await page.getByRole('link', { name: /^huge / }).click();
    await page.getByText('1 request', { exact: true }).waitFor();
  },
);

story('Values of a request lead to the requests that share them', async (stage) => {
  const { page } = stage;
  const id = await insert(stage);
  for (const [name, q] of [
    ['same user', 'user:anna'],
    ['same prompt', 'prompt:greeting'],
    ['same model', 'model_used:gpt-4o-mini-2024-07-18'],
    ['helpful 0.5', 'scores.helpful:0.5'],
  ] as const) {
    await page.goto(`/requests/${id}`);
    await page.getByRole('link', { name }).click();
    await page.waitForURL((url) => url.pathname === '/requests' && url.searchParams.get('q') === q);
    await page.getByText('1 request', { exact: true }).waitFor();
  }
  for (const [name, q] of [
    ['provider_timeout', 'error_code:provider_timeout'],
    ['sk-assay-', `api_key:${stage.organization.keyId}`],
  ] as const) {
    await page.goto(`/requests/${id}?tab=delivery`);
    await panel(page).getByRole('link', { name }).click();
    await page.waitForURL((url) => url.pathname === '/requests' && url.searchParams.get('q') === q);
    await page.getByText('1 request', { exact: true }).waitFor();
  }
});

story('A request leads to its session, its user and its prompt', async (stage) => {
  const { page, organization } = stage;
  const stored = { name: 'Greeting', promptBody: {} };
  const prompt = await callAs<{ id: string }>(stage, 'POST', '/v1/prompt-2025', stored);
  const [row] = await organization.insert([
    { user_id: 'anna', prompt_id: prompt.id, session_id: 'trip/1', session_name: 'Trip to Oslo' },
  ]);
  for (const [name, path] of [
    ['Trip to Oslo', '/sessions/trip%2F1'],
    ['anna', '/users/anna'],
    [prompt.id, `/prompts/${prompt.id}`],
  ] as const) {
    await page.goto(`/requests/${row!.request_id}`);
    await page.getByRole('link', { name, exact: true }).click();
    await page.waitForURL((url) => url.pathname === path);
    await page.waitForLoadState('networkidle');
  }
});

story(
  'A call is copied for a terminal and for programs, with its own body',
  async (stage) => {
    const { t, page } = stage;
    await page.goto(`/requests/${await insert(stage)}`);
    for (const [title, begin] of [
      ['cURL', 'curl '],
      ['JavaScript', 'const response'],
      ['Python', 'import json'],
    ] as const) {
      await page.getByRole('button', { name: title, exact: true }).click();
      await page.getByText(`${title} copied`).waitFor();
      const text = await page.evaluate<string>('navigator.clipboard.readText()');
      t.ok(text.startsWith(begin), title);
      t.match(text, 'What is the capital of Norway?');
      t.match(text, '/v1/chat/completions');
      t.match(text, 'ASSAY_API_KEY');
    }
  },
  { context: { permissions: ['clipboard-read', 'clipboard-write'] } },
);

story('A failure keeps the request on the page, and is tried again', async (stage) => {
  const { page, expectComplaint } = stage;
  await page.goto(`/requests/${await insert(stage)}`);
  await page.getByRole('tab', { name: 'Delivery' }).waitFor();
  await page.route('**/delivery', (route) =>
    route.fulfill({
      status: 503,
      headers: { 'service-request-id': 'call-9' },
      body: '{"data":null,"error":"Not now"}',
    }),
  );
  await page.getByRole('tab', { name: 'Delivery' }).click();
  const notice = page.getByRole('alert');
  await notice.getByText('Not now').waitFor();
  await notice.getByText('call-9').waitFor();
  await page.unroute('**/delivery');
  await notice.getByRole('button', { name: 'Try again' }).click();
  await panel(page).getByText('Sent in one piece.').waitFor();
  expectComplaint(/status of 503/);
});

story(
  'A request is graded in place, beside what other people said, and the grade is taken back',
  async (stage) => {
    const { t, page } = stage;
    const id = await insert(stage);
    const polite = await makeCriterion(stage, 'Polite');
    await gradeAs(stage, 'Bo <b>\u202E', id, {
      criterionId: polite,
      value: false,
      comment: 'Rude <i>indeed</i>',
    });
    await nameReviewer(stage, 'Ada');
    await page.goto(`/requests/${id}?tab=grades`);
    await panel(page).getByText('Rude <i>indeed</i>').waitFor();
    await comesToMatch(t, () => panel(page).locator('.grade-list').innerText(), /Polite\s+No Bo <b>/);
    await panel(page).getByRole('button', { name: 'Yes' }).click();
    await panel(page).getByLabel('Comment on Polite').fill('Friendly enough');
    await panel(page).getByRole('button', { name: 'Grade', exact: true }).click();
    await panel(page).getByText('Friendly enough').first().waitFor();
    await panel(page).getByText('You', { exact: true }).waitFor();
    t.same(
      await gradesBy(stage, 'Ada', id),
      new Map([[polite, { value: true, comment: 'Friendly enough' }]]),
    );
    await panel(page).getByRole('button', { name: 'Take it back' }).click();
    await panel(page).getByText('You', { exact: true }).waitFor({ state: 'detached' });
    t.equal((await gradesBy(stage, 'Ada', id)).size, 0);
  },
);
