/** Random operations against a model in memory: every version, old or new, reads as what it was. */
import fc from 'fast-check';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { ask, asking, type Changes, create, type Item, itemsOf, versionsOf } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const SPLITS = ['train', 'test'];

const given = fc.record({
  externalId: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: null }),
  text: fc.constantFrom('1', '2', '3'),
  split: fc.constantFrom(null, ...SPLITS),
});
const putting = fc.record({
  items: fc.uniqueArray(given, { maxLength: 5, selector: ({ externalId }) => externalId ?? {} }),
  replace: fc.boolean(),
  split: fc.constantFrom(null, ...SPLITS),
});
const removing = fc.record({ names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }) });
const operation = fc.oneof({ weight: 3, arbitrary: putting }, { weight: 1, arbitrary: removing });

/** What an item says, without its id. */
type Content = { externalId: string | null; text: string; split: string | null };

const key = (content: Content) => JSON.stringify([content.externalId, content.text, content.split]);

/** The model: contents by the item's name, or a number of its own. */
class Model {
  items = new Map<string, Content>();
  versions: string[][] = [[]];
  #next = 0;

  put(items: readonly Content[], replace: boolean, split: string | null): Omit<Changes, 'version'> {
    const counts = { added: 0, changed: 0, unchanged: 0, removed: 0 };
    const named = new Set<string>();
    for (const item of items) {
      const same = [...this.items].find(
        ([name, content]) => content.externalId === null && key(content) === key(item) && !named.has(name),
      )?.[0];
      const name = item.externalId ?? same ?? `#${this.#next++}`;
      const old = this.items.get(name);
      if (old === undefined) counts.added += 1;
      else if (key(old) === key(item)) counts.unchanged += 1;
      else counts.changed += 1;
      this.items.set(name, item);
      named.add(name);
    }
    if (replace) {
      const gone = [...this.items].filter(
        ([name, content]) => !named.has(name) && (split === null || content.split === split),
      );
      for (const [name] of gone) this.items.delete(name);
      counts.removed = gone.length;
    }
    return counts;
  }

  /** Notes the version if anything has changed; returns its number. */
  note(isChanged: boolean): number {
    if (isChanged) this.versions.push([...this.items.values()].map(key).sort());
    return this.versions.length - 1;
  }
}

t.test('every version reads as what it was, whatever came later', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 8 }), async (operations) => {
      const id = await create(api);
      const model = new Model();
      for (const one of operations) {
        if ('names' in one) {
          const removed = one.names.filter((name) => model.items.delete(name)).length;
          const version = model.note(removed > 0);
          t.same(await ask(api, `/${id}/items/remove`, { externalIds: one.names }), { version, removed });
          continue;
        }
        const { replace, split } = one;
        // An item of no split gets that of the call.
        const contents = one.items.map((item) => ({ ...item, split: item.split ?? split }));
        const counts = model.put(contents, replace, split);
        const version = model.note(counts.added + counts.changed + counts.removed > 0);
        const items: Item[] = one.items.map(({ text, externalId, split }) =>
          asking(text, {
            ...(externalId === null ? {} : { externalId }),
            ...(split === null ? {} : { split }),
          }),
        );
        const body = { items, replace, ...(split === null ? {} : { split }) };
        t.same(await ask(api, `/${id}/items`, body), { version, ...counts });
      }
      for (const [version, expected] of model.versions.entries()) {
        if (version === 0) continue;
        const found = (await itemsOf(api, id, { version, limit: 3 })).map(
          ({ externalId, request, split }) => {
            const { messages } = request as { messages: [{ content: string }] };
            return key({ externalId: externalId ?? null, text: messages[0].content, split: split ?? null });
          },
        );
        t.same(found.sort(), expected);
      }
      const numbered = (await versionsOf(api, id)).map(({ version, items }) => [version, items]).reverse();
      t.same(
        numbered,
        [...model.versions.entries()].slice(1).map(([version, { length }]) => [version, length]),
      );
    }),
    runs(t, 25),
  );
});
