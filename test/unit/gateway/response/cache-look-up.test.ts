import t from 'tap';
import type { CacheOptions, CacheQuery, ResponseCache } from '../../../../gateway/cache/mod.ts';
import type { PreparedBody } from '../../../../gateway/providers/prepare-request.ts';
import type { Call } from '../../../../gateway/request/call.ts';
import { createCacheLookUp } from '../../../../gateway/response/cache-look-up.ts';

const CALL = {
  caller: { organizationId: 'o' },
  endpoint: { path: '/v1/chat/completions' },
  headers: { forwardedTo: { openai: [] } },
} as unknown as Call;
const OPTIONS: CacheOptions = {
  isReading: true,
  isCoalescing: false,
  maxAgeMs: 60_000,
  bucketSize: 1,
  seed: null,
};

function prepared(model: string): PreparedBody {
  const candidate = { provider: 'custom', model, row: { dialect: 'openai', headers: [] } };
  return { candidate, body: Buffer.from('{}') } as unknown as PreparedBody;
}

t.test('a fallback is looked for once, however often it is tried again', async (t) => {
  const found: CacheQuery[] = [];
  const cache = {
    find: async (query: CacheQuery) => {
      found.push(query);
      return null;
    },
  } as unknown as ResponseCache;
  const lookUp = await createCacheLookUp(cache, { now: () => 0 })(CALL, prepared('first'), OPTIONS);
  const [second, third] = [prepared('second'), prepared('third')];
  for (const fallback of [second, second, third, third, second])
    t.equal(await lookUp.findFallback(fallback), null);
  t.equal(found.length, 3);
  t.equal(new Set(found.map(({ key }) => key)).size, 3);
});
