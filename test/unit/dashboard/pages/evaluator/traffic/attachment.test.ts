import t from 'tap';
import { parseQuery } from '#core/filter/query-text/mod.ts';
import {
  attachmentChanges,
  attachmentConfig,
  attachmentOf,
  emptyAttachment,
  requestsQuery,
} from '../../../../../../dashboard/pages/evaluator/traffic/attachment.ts';

const config = {
  sampleRate: 12.5,
  probeRate: 5,
  propertyFilters: [{ key: 'user tier', value: 'pro' }],
  filter: parseQuery('status:200 OR status:201'),
};

t.test('What is attached is shown and sent back as the same', async (t) => {
  t.same(attachmentConfig(attachmentOf(config)), {
    sampleRate: 12.5,
    probeRate: 5,
    propertyFilters: [{ key: 'user tier', value: 'pro' }],
    q: 'status:(200 OR 201)',
  });
});

t.test('Something new takes a tenth of all requests, without a filter', async (t) => {
  const properties = [{ key: 0, name: ' ', value: 'left out' }];
  t.same(attachmentConfig({ ...emptyAttachment('request'), properties }), {
    sampleRate: 10,
    probeRate: 0,
    propertyFilters: [],
    filter: null,
  });
});

t.test('What is attached for sessions has its silence, and new ones a quarter of an hour', async (t) => {
  t.equal(attachmentConfig(emptyAttachment('session')).idleSeconds, 900);
  const first = attachmentOf({ ...config, idleSeconds: 60 });
  t.equal(attachmentConfig(first).idleSeconds, 60);
  t.same(attachmentChanges(first, { ...first, idleSeconds: '90' }), { idleSeconds: 90 });
});

t.test('Of a change, only what is another than before is sent', async (t) => {
  const first = attachmentOf(config);
  t.same(attachmentChanges(first, first), {});
  t.same(attachmentChanges(first, { ...first, sampleRate: '50' }), { sampleRate: 50 });
  t.same(attachmentChanges(first, { ...first, q: ' ' }), { filter: null }, 'every request');
  t.same(attachmentChanges({ ...first, q: '' }, { ...first, q: 'status:500' }), { q: 'status:500' });
  t.same(attachmentChanges(first, { ...first, properties: [] }), { propertyFilters: [] });
});

t.test('The requests of an attachment have its properties and pass its filter', async (t) => {
  t.equal(requestsQuery(config), 'property."user tier":pro status:(200 OR 201)');
  t.equal(requestsQuery({ ...config, filter: null }), 'property."user tier":pro');
  t.equal(requestsQuery({ ...config, filter: 'all', propertyFilters: [] }), '');
  const filter = parseQuery('status:200 OR user:anna');
  t.equal(requestsQuery({ ...config, filter }), 'property."user tier":pro (status:200 OR user:anna)');
});
