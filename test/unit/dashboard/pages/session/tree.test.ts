import t from 'tap';
import type { SessionNode, SessionRequest } from '#core/contracts/session.ts';
import { stepTo } from '../../../../../dashboard/pages/session/step-to.ts';
import {
  isFailed,
  joinNodes,
  leavesOf,
  printClosed,
  readClosed,
  treeRows,
} from '../../../../../dashboard/pages/session/tree.ts';

function request(id: string, second: number, more: Partial<SessionRequest> = {}): SessionRequest {
  return {
    request_id: id,
    session_path: null,
    created_at: new Date(Date.UTC(2026, 10, 1, 0, 0, second)).toISOString(),
    response_created_at: null,
    delay_ms: null,
    time_to_first_token: null,
    status: 200,
    provider: 'OPENAI',
    model: 'gpt-4o',
    prompt_tokens: null,
    completion_tokens: null,
    total_tokens: null,
    cost: null,
    user_id: null,
    scores: null,
    feedback_rating: null,
    ...more,
  };
}

function node(path: string, requests: SessionRequest[], children: SessionNode[] = []): SessionNode {
  const below = children.reduce((sum, child) => sum + child.total_requests, 0);
  return {
    name: path.split('/').at(-1)!,
    path,
    total_requests: requests.length + below,
    total_tokens: 0,
    total_cost: null,
    requests,
    children,
  };
}

const shown = (rows: ReturnType<typeof treeRows>) =>
  rows.map((row) => `${row.depth} ${row.kind === 'node' ? row.node.path : row.request.request_id}`);

const tree = node(
  '/',
  [request('r', 5)],
  [
    node('/a', [request('a1', 1)], [node('/a/b', [request('b1', 3, { status: 500 })])]),
    node('/c', [request('c1', 2)]),
  ],
);

t.test('A tree is shown as nodes, the requests of each, and what is below', async (t) => {
  t.same(shown(treeRows(tree, new Set(), false)), [
    '0 /',
    '1 r',
    '1 /a',
    '2 a1',
    '2 /a/b',
    '3 b1',
    '1 /c',
    '2 c1',
  ]);
});

t.test('A closed node hides its requests and all below', async (t) => {
  t.same(shown(treeRows(tree, new Set(['/a']), false)), ['0 /', '1 r', '1 /a', '1 /c', '2 c1']);
});

t.test('Errors only: requests that failed, and the nodes above them, with their number', async (t) => {
  const rows = treeRows(tree, new Set(), true);
  t.same(shown(rows), ['0 /', '1 /a', '2 /a/b', '3 b1']);
  t.same(
    rows.flatMap((row) => (row.kind === 'node' ? row.errors : [])),
    [1, 1, 1],
  );
});

t.test('Requests of a tree come in the order of time', async (t) => {
  t.same(
    leavesOf(tree).map(({ request, depth }) => `${depth} ${request.request_id}`),
    ['1 a1', '1 c1', '2 b1', '0 r'],
  );
});

t.test('Pages of a tree are joined by their paths, and their totals added', async (t) => {
  const first = { ...node('/', [], [node('/a', [request('a1', 1)])]), total_cost: 1, total_tokens: 5 };
  const second = {
    ...node('/', [request('r', 9)], [node('/a', [request('a2', 8)]), node('/z', [request('z', 7)])]),
    total_cost: 2,
    total_tokens: 6,
  };
  const joined = joinNodes(first, second);
  t.same(shown(treeRows(joined, new Set(), false)), ['0 /', '1 r', '1 /a', '2 a1', '2 a2', '1 /z', '2 z']);
  t.match(joined, { total_requests: 4, total_cost: 3, total_tokens: 11 });
  t.equal(joinNodes(first, { ...second, total_cost: null }).total_cost, 1, 'an unknown cost adds nothing');
});

t.test('A request has failed from status 400 on, and when its gateway or client went away', async (t) => {
  t.same(
    [200, 399, 400, 500, 0, -1].map((status) => isFailed({ status })),
    [false, false, true, true, true, true],
  );
});

t.test('Closed paths come back from an address as they were, whatever characters they have', async (t) => {
  for (const paths of [[], ['/'], ['/a,b', '/%2F', '/ä\u202e&=']])
    t.same([...readClosed(printClosed(new Set(paths)))], paths);
  t.same([...readClosed('%zz')], ['%zz'], 'an address that somebody has changed');
  t.same([...readClosed(undefined)], []);
});

t.test('A step goes to the next row and stays at an end', async (t) => {
  const keys = ['a', 'b', 'c'];
  t.equal(stepTo(keys, 'a', 1), 'b');
  t.equal(stepTo(keys, 'c', 1), 'c');
  t.equal(stepTo(keys, null, 1), 'a');
  t.equal(stepTo(keys, 'gone', -1), 'c');
  t.equal(stepTo([], null, 1), null);
});
