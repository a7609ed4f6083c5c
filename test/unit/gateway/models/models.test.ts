import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import type { CatalogModel } from '#core/models/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { createLiveModels, routableModels } from '../../../../gateway/models/mod.ts';
import { createModelLists, type ModelDocument } from '../../../../gateway/models/model-list.ts';
import { usableModels } from '../../../../gateway/models/usable.ts';

const model = (id: string, created: number, provider: CatalogModel['provider']): CatalogModel => ({
  id,
  title: id.toUpperCase(),
  created,
  ownedBy: provider.toLowerCase(),
  provider,
});

const MODELS = [model('m-b', 3, 'openai'), model('m-a', 2, 'anthropic'), model('m-c', 1, 'groq')];
const lists = createModelLists(MODELS, () => null);

type Page = { data: { id: string }[]; has_more: boolean; first_id: string | null; last_id: string | null };

const pageOf = ({ body }: ModelDocument) => JSON.parse(body.toString()) as Page;
const idsOf = (document: ModelDocument) => pageOf(document).data.map(({ id }) => id);
const anthropicPage = (query: string) => pageOf(lists.list('anthropic', new URLSearchParams(query)));

t.test('OpenAI’s list of models is in the order of ids, Anthropic’s has the newest first', async (t) => {
  t.same(idsOf(lists.list('openai', new URLSearchParams())), ['m-a', 'm-b', 'm-c']);
  t.same(idsOf(lists.list('anthropic', new URLSearchParams())), ['m-b', 'm-a', 'm-c']);
});

t.test(
  'a page of Anthropic’s list begins after an id or ends before one, and reports whether more follow',
  async (t) => {
    t.match(anthropicPage('limit=2'), { first_id: 'm-b', last_id: 'm-a', has_more: true });
    t.match(anthropicPage('limit=2&after_id=m-a'), { first_id: 'm-c', last_id: 'm-c', has_more: false });
    t.match(anthropicPage('limit=1&before_id=m-c'), { first_id: 'm-a', last_id: 'm-a', has_more: true });
    t.match(anthropicPage('limit=5&before_id=m-b'), { data: [], first_id: null, has_more: false });
  },
);

t.test(
  'a page with a limit of 0 or 1001, an unknown id or two directions is refused as invalid_body',
  async (t) => {
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after_id=nope', 'after_id=m-a&before_id=m-b'])
      t.throws(() => anthropicPage(query), { code: 'invalid_body' }, query);
    t.equal(anthropicPage('limit=1000').data.length, 3);
  },
);

t.test(
  'an unknown model is refused as model_not_found, and its name is shown cut to 80 characters',
  async (t) => {
    const expected = {
      code: 'model_not_found',
      message: `The model '${'x'.repeat(80)}…' does not exist here`,
    };
    try {
      lists.one('openai', 'x'.repeat(81));
      t.fail('no error');
    } catch (error) {
      t.ok(error instanceof AssayError);
      t.match(error, expected);
    }
  },
);

t.test('documents of models have the same ETag exactly when they have the same bytes', async (t) => {
  const again = createModelLists([...MODELS].reverse(), () => null);
  const document = lists.one('openai', 'm-a');
  t.equal(again.one('openai', 'm-a').etag, document.etag);
  t.not(lists.one('anthropic', 'm-a').etag, document.etag);
  t.equal(again.list('openai', new URLSearchParams()).etag, lists.list('openai', new URLSearchParams()).etag);
});

t.test(
  'routableModels leaves out models that no provider can be called for, and lets other errors through',
  async (t) => {
    const route = (id: string) => {
      if (id === 'm-a') throw new AssayError('model_not_found', 'No provider');
    };
    t.same(
      routableModels(MODELS, route).map(({ id }) => id),
      ['m-b', 'm-c'],
    );
    t.throws(
      () =>
        routableModels(MODELS, () => {
          throw new TypeError('a fault of the program');
        }),
      TypeError,
    );
  },
);

t.test(
  'the models of configured providers are usable, and all of them where none is configured',
  async (t) => {
    t.same(usableModels(MODELS, new Set(['groq'])), [MODELS[2]]);
    t.same(usableModels(MODELS, new Set()), MODELS);
  },
);

t.test(
  'live models add those of a stored key after a refresh, and keep the list when reading fails',
  async (t) => {
    let read = async (): Promise<CatalogModel['provider'][]> => [];
    const live = await createLiveModels({
      models: MODELS,
      findNamed: () => null,
      operatorProviders: new Set(['openai']),
      readStoredProviders: () => read(),
      log: createLogger({ role: 'test', level: 'silent' }),
    });
    t.teardown(() => live.stop());
    const listed = () => idsOf(live.answers.list('openai', new URLSearchParams()));
    const reading = (outcome: () => CatalogModel['provider'][]) =>
      new Promise<void>((resolve) => {
        read = async () => {
          setImmediate(resolve);
          return outcome();
        };
        // The timer of the list does not keep this process alive.
        const alive = setTimeout(() => {}, 10_000);
        t.teardown(() => clearTimeout(alive));
        live.refresh();
      });
    t.same(listed(), ['m-b']);
    await reading(() => ['groq']);
    t.same(listed(), ['m-b', 'm-c']);
    await reading(() => {
      throw new Error('Postgres is away');
    });
    t.same(listed(), ['m-b', 'm-c']);
  },
);
