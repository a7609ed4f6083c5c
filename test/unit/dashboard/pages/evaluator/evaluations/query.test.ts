import t from 'tap';
import {
  queryBodies,
  readFilters,
  retryBody,
} from '../../../../../../dashboard/pages/evaluator/evaluations/query.ts';

const page = { limit: 51, offset: 0 };

t.test('An address without filters lists all evaluations of the evaluator', async (t) => {
  t.same(queryBodies('e', readFilters({})), [{ evaluatorId: 'e', ...page }]);
});

t.test('All filters of the address are sent; those that cannot be are left out', async (t) => {
  const query = { state: 'dead', code: 'judge_timeout', version: '2', run: 'r', request: 'q', at: '50' };
  t.same(queryBodies('e', readFilters(query)), [
    {
      evaluatorId: 'e',
      errorCode: 'judge_timeout',
      version: 2,
      runId: 'r',
      requestId: 'q',
      limit: 51,
      offset: 50,
      state: 'dead',
    },
  ]);
  t.same(queryBodies('e', readFilters({ state: 'x', version: '1e9', at: '-1' })), [
    { evaluatorId: 'e', ...page },
  ]);
});

t.test('Failed ones are those in error and those that are dead', async (t) => {
  t.same(
    queryBodies('e', readFilters({ state: 'failed' })).map(({ state }) => state),
    ['error', 'dead'],
  );
});

t.test('The filters say which evaluations are retried; a list of others offers none', async (t) => {
  t.same(retryBody(readFilters({ state: 'failed', run: 'r' })), { states: ['error', 'dead'], runId: 'r' });
  t.same(retryBody(readFilters({ state: 'dead', version: '3', code: 'c' })), {
    states: ['dead'],
    version: 3,
    errorCode: 'c',
  });
  t.equal(retryBody(readFilters({})), null);
  t.equal(retryBody(readFilters({ state: 'completed' })), null);
  t.equal(
    retryBody(readFilters({ state: 'dead', request: 'q' })),
    null,
    'the API cannot narrow it to a request',
  );
});
