import t from 'tap';
import type { MarkdownNode } from '../../../../../dashboard/parts/markdown/nodes.ts';
import {
  decodeEntities,
  readMarkdown,
  safeAddress,
} from '../../../../../dashboard/parts/markdown/read-markdown.ts';
import { hostileTexts } from '../../../../support/hostile/mod.ts';

function* nodesIn(nodes: readonly MarkdownNode[]): Generator<MarkdownNode> {
  for (const node of nodes) {
    yield node;
    if ('children' in node) yield* nodesIn(node.children);
  }
}

function textIn(nodes: readonly MarkdownNode[]): string {
  return [...nodesIn(nodes)].map((node) => ('text' in node ? node.text : '')).join('');
}

t.test('links lead to http, https and mailto alone, and never name a user before the host', async (t) => {
  for (const address of ['https://example.com/a', 'http://example.com/', 'mailto:a@example.com'])
    t.equal(safeAddress(address), address);
  for (const address of [
    'javascript:1',
    'data:text/html,x',
    '//example.com',
    '/v1/keys',
    '#x',
    'https://a@b.com/',
    'vbscript:1',
    'blob:x',
    '',
  ])
    t.equal(safeAddress(address), null, address);
});

t.test('of the whole corpus no link has another scheme, and HTML is text', async (t) => {
  const addresses = hostileTexts('http://127.0.0.1:9')
    .filter(({ text }) => text.length < 10_000)
    .flatMap(({ text }) => [...nodesIn(readMarkdown(text) ?? [])])
    .flatMap((node) => (node.kind === 'link' ? [node.address] : []));
  t.ok(addresses.length > 5, 'there are links');
  t.same(
    addresses.filter((address) => !/^(?:https?|mailto):/.test(address)),
    [],
  );
  const nodes = readMarkdown('a <b onclick=x>bold</b>\n\n<script>\nrun()\n</script>\n')!;
  t.equal(textIn(nodes).replace(/\s/g, ''), 'a<bonclick=x>bold</b><script>run()</script>');
});

t.test('what people write in Markdown is read', async (t) => {
  const text =
    '# Title\n\nSome **bold** and *soft* `code` ~~old~~.\n\n1. one\n2. two\n\n- [x] done\n\n> quote\n\n```js\nrun()\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n[link](https://example.com) ![image](https://example.com/a.png)';
  const kinds = new Set([...nodesIn(readMarkdown(text)!)].map(({ kind }) => kind));
  for (const kind of [
    'heading',
    'strong',
    'emphasis',
    'code-span',
    'deleted',
    'list',
    'item',
    'quote',
    'code',
    'table',
    'row',
    'head-cell',
    'cell',
    'rule',
    'link',
    'image',
  ] as const)
    t.ok(kinds.has(kind), kind);
});

t.test('entities that people write are read, all others stay', async (t) => {
  t.equal(decodeEntities('&lt;a&gt; &amp;amp; &#65;&#x42; &quot;'), '<a> &amp; AB "');
  t.equal(
    decodeEntities('&unknown; &#xd800; &#1114112; &constructor; &#;'),
    '&unknown; &#xd800; &#1114112; &constructor; &#;',
  );
});

t.test('depth and number of nodes are bounded', async (t) => {
  const quotes = readMarkdown(`${'>'.repeat(200)} deep`)!;
  const depthOf = (node: MarkdownNode): number =>
    'children' in node ? 1 + Math.max(0, ...node.children.map(depthOf)) : 1;
  t.ok(Math.max(...quotes.map(depthOf)) <= 30);
  t.ok([...nodesIn(readMarkdown('**a** '.repeat(9_000))!)].length < 20_000);
});

t.test('the item of a task has its mark once, in a loose list too', async (t) => {
  const nodes = readMarkdown('- [ ] open\n- [x] done\n\n1. [ ] loose\n\n2. other')!;
  t.equal(textIn(nodes), 'opendonelooseother');
  t.same(
    [...nodesIn(nodes)].flatMap((node) => (node.kind === 'item' ? [node.isDone] : [])),
    [false, true, false, null],
  );
});
