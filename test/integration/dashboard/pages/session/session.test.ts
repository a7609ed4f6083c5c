import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { SeedRequest } from '../../../../support/seed-requests.ts';

const BEGIN_MS = Date.now() - 3_600_000;

function step(second: number, more: Partial<SeedRequest> = {}): Partial<SeedRequest> {
  return {
    session_id: 'trip',
    session_name: 'Trip to Oslo',
    created_at: new Date(BEGIN_MS + second * 1_000),
    latency_ms: 500,
    model: 'gpt-4o',
    cost_nano: 2_000_000,
    total_tokens: 10,
    ...more,
  };
}

type Said = { role: string; content: string };

function chatStep(second: number, messages: Said[], answer: string): Partial<SeedRequest> {
  return step(second, {
    session_path: '/chat',
    request_text: JSON.stringify({ model: 'gpt-4o', messages }),
    response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
  });
}

const RUN = [
  step(0, { session_path: '/plan', model: 'planner' }),
  step(2, { session_path: '/search/hotels', model: 'searcher', status: 500, cost_nano: null }),
  step(4, { session_path: '/search/hotels', model: 'searcher' }),
  step(6, { session_path: '/write', model: 'writer', status: 429, cost_nano: null }),
];

story(
  'A session shows its tree by path with totals; a folded node hides what is below, also after a reload',
  async ({ t, page, organization }) => {
    await organization.insert(RUN);
    await page.goto('/sessions/trip');
    await page.getByRole('heading', { name: 'Trip to Oslo' }).waitFor();
    const search = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'search' }) });
    await comesToMatch(t, () => search.innerText(), /1 error\s+2\s+20\s+\$0\.002/);
    await comesTo(t, () => page.getByRole('link', { name: 'searcher' }).count(), 2);
    await page.getByRole('button', { name: 'search' }).click();
    await page.getByRole('link', { name: 'searcher' }).first().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'planner' }).waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'searcher' }).count(), 0);
    await comesTo(
      t,
      () => page.getByRole('button', { name: 'search' }).getAttribute('aria-expanded'),
      'false',
    );
  },
);

story(
  'A session lasts until its last answer, and leads to the users who asked',
  async ({ t, page, organization }) => {
    await organization.insert([
      step(0, { user_id: 'ada', latency_ms: 24_000 }),
      step(1, { user_id: 'ada' }),
      step(2, { user_id: 'bob' }),
    ]);
    await page.goto('/sessions/trip');
    const facts = page.locator('.session-head');
    // The list's duration ends where the latest request begins.
    await comesToMatch(t, () => facts.innerText(), /Until the last answer\s+24 s/);
    await comesToMatch(t, () => facts.innerText(), /Users\s+ada, bob/);
    await facts.getByRole('link', { name: 'bob' }).click();
    await page.waitForURL('**/users/bob');
  },
);

story(
  'The waterfall has a bar for each request in the order of time, and the cost so far',
  async ({ t, page, organization }) => {
    await organization.insert(RUN);
    await page.goto('/sessions/trip');
    await page.getByRole('tab', { name: 'Waterfall' }).click();
    const rows = page.getByRole('table', { name: 'Requests by time' }).getByRole('row');
    await rows.nth(4).waitFor();
    await comesToMatch(t, () => rows.nth(3).innerText(), /searcher[\s\S]*\$0\.002\s+\$0\.004/);
    await comesToMatch(t, () => rows.nth(4).innerText(), /✕\s+429/);
    t.match(page.url(), 'show=waterfall');
    const begins = await page
      .locator('.waterfall-bar')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left));
    t.same(
      begins,
      begins.toSorted((a, b) => a - b),
    );
    t.equal(new Set(begins).size, 4);
  },
);

story(
  'Keys move through the requests and from error to error; the drawer follows, and a step back closes it',
  async ({ t, page, organization }) => {
    const [plan, failed, , written] = await organization.insert(RUN);
    await page.goto('/sessions/trip?show=waterfall');
    await page.getByRole('link', { name: 'writer' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('complementary', { name: 'Request' });
    await drawer.getByText(plan!.request_id).waitFor();
    await page.keyboard.press('e');
    await drawer.getByText(failed!.request_id).waitFor();
    await page.keyboard.press('e');
    await drawer.getByText(written!.request_id).waitFor();
    t.match(page.url(), `r=${written!.request_id}`);
    await page.keyboard.press('Shift+E');
    await drawer.getByText(failed!.request_id).waitFor();
    await page.goBack();
    await drawer.waitFor({ state: 'detached' });
    t.match(page.url(), 'show=waterfall');
  },
);

story('Errors only leaves the requests that failed', async ({ t, page, organization }) => {
  await organization.insert(RUN);
  await page.goto('/sessions/trip');
  await page.getByRole('button', { name: 'Errors only (2)' }).click();
  await page.getByRole('link', { name: 'planner' }).waitFor({ state: 'detached' });
  await comesTo(t, () => page.locator('.grid a').allInnerTexts(), ['searcher', 'writer']);
  t.match(page.url(), 'errors=1');
});

story('The conversation shows of each turn what is new, page by page', async ({ t, page, organization }) => {
  const said: Said[] = [{ role: 'system', content: 'Be brief.' }];
  const turns = Array.from({ length: 22 }, (_, index) => {
    said.push({ role: 'user', content: `Question ${index + 1}` });
    const turn = chatStep(index, [...said], `Answer **${index + 1}**`);
    said.push({ role: 'assistant', content: `Answer **${index + 1}**` });
    return turn;
  });
  const large = step(30, {
    session_path: '/chat',
    request_text: JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(1_100_000) }] }),
  });
  const seeded = await organization.insert([...turns, large]);
  await page.goto('/sessions/trip?show=conversation');
  const second = page.getByRole('article', { name: 'Turn 2', exact: true });
  await second.getByText('Answer 2').waitFor();
  await comesTo(t, () => second.getByText('Question 1').count(), 0, 'the turn before has shown it');
  await comesToMatch(t, () => second.innerText(), 'After 3 messages shown above');
  await comesTo(
    t,
    () => second.locator('strong').innerText(),
    '2',
    'as a request’s own conversation is shown',
  );
  await page.getByRole('button', { name: /More turns after the 20/ }).click();
  await page.getByText('Answer 22').waitFor();
  const last = page.getByRole('article', { name: 'Turn 23' });
  await last.getByRole('link', { name: 'the request by itself' }).click();
  await page.waitForURL(`**/requests/${seeded.at(-1)!.request_id}`);
});

story('A session is rated and tagged, and the list says so', async ({ t, page, organization }) => {
  await organization.insert(RUN);
  await page.goto('/sessions/trip');
  await page.getByRole('button', { name: 'Bad' }).click();
  await page.locator('button[aria-pressed=true]', { hasText: 'Bad' }).waitFor();
  await page.getByRole('button', { name: 'Add a tag…' }).click();
  await page.getByLabel('Tag', { exact: true }).fill('reviewed');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.session-tag', { hasText: 'reviewed' }).waitFor();
  await page.getByRole('link', { name: 'All sessions' }).click();
  const row = page.getByRole('row').filter({ hasText: 'trip' });
  await row.getByText('reviewed').waitFor();
  await comesToMatch(t, () => row.innerText(), 'Bad');
});

story(
  'The session of another organization is refused in the words of the API',
  async ({ page, organization, product, expectComplaint }) => {
    const other = await product.organization(['read']);
    await other.insert(RUN);
    await organization.insert([step(0, { session_id: 'own' })]);
    await page.goto('/sessions/trip');
    await page.getByRole('alert').getByText('There is no session').waitFor();
    expectComplaint(/status of 404/);
  },
);

story(
  'Hostile ids, names, paths and messages are shown as text, and their session opens',
  async ({ t, page, organization }) => {
    const id = '../%2F?<img src=x onerror=alert(1)>#\u202e';
    await organization.insert([
      {
        ...chatStep(
          0,
          [{ role: 'user', content: '<script>alert(1)</script>\u202e' }],
          '[x](javascript:alert(1))',
        ),
        session_id: id,
        session_name: '<b>\u202ename',
        session_path: '/<i>a</i>/%2e%2e/\u200b,b',
        model: '"><svg onload=alert(1)>',
      },
    ]);
    await page.goto('/sessions');
    await page.locator('.sessions-id').click();
    await page.getByRole('heading', { name: /<b>/ }).waitFor();
    await page.getByRole('button', { name: '<i>a<' }).click();
    await page.getByRole('button', { name: '<i>a<' }).click();
    await page.getByRole('link', { name: /svg onload/ }).waitFor();
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByText('<script>alert(1)</script>').waitFor();
    await comesTo(t, () => page.locator('main img, main svg[onload], a[href^="javascript"]').count(), 0);
    await page.getByRole('link', { name: 'All its requests' }).click();
    await page
      .getByRole('table', { name: /^Requests/ })
      .getByRole('row')
      .nth(1)
      .waitFor();
  },
);

accessibleStory(
  'The tree of a session, with a request beside it, has no barrier',
  async ({ page, organization }) => {
    const [first] = await organization.insert(RUN);
    await page.goto(`/sessions/trip?r=${first!.request_id}`);
    await page.getByRole('complementary').getByText(first!.request_id).waitFor();
  },
);

accessibleStory('The waterfall of a session has no barrier', async ({ page, organization }) => {
  await organization.insert(RUN);
  await page.goto('/sessions/trip?show=waterfall');
  await page.getByRole('link', { name: 'writer' }).waitFor();
});

accessibleStory('The conversation of a session has no barrier', async ({ page, organization }) => {
  await organization.insert([
    chatStep(0, [{ role: 'user', content: 'Hello' }], 'Hi'),
    chatStep(1, [{ role: 'user', content: 'Bye' }], 'See you'),
  ]);
  await page.goto('/sessions/trip?show=conversation');
  await page.getByText('See you').waitFor();
});
