import t from 'tap';
import { type PathNode, pathTree } from '#core/sessions/mod.ts';

const treeOf = (...paths: (string | null)[]) => pathTree(paths, (path) => path);
const outline = ({ path, items, children }: PathNode<string | null>): unknown => [
  path,
  items.length,
  children.map(outline),
];

t.test(
  'items hang at their paths, whose parts are nodes in the order in which they first occur',
  async (t) => {
    t.same(outline(treeOf('/b', '/a/x', '/b/y', '/a')), [
      '/',
      0,
      [
        ['/b', 1, [['/b/y', 1, []]]],
        ['/a', 1, [['/a/x', 1, []]]],
      ],
    ]);
    t.equal(treeOf('/a/x').children[0]?.children[0]?.name, 'x');
  },
);

t.test('empty parts of a path count for nothing, and an item without a path is at the root', async (t) => {
  t.same(outline(treeOf(null, '', '/', 'a', '//a/', 'a/')), ['/', 3, [['/a', 3, []]]]);
});

t.test('paths with odd parts are told apart', async (t) => {
  const { children } = treeOf('/__proto__', '/constructor/a b', '/😀', '/ ');
  t.same(
    children.map((node) => node.name),
    ['__proto__', 'constructor', '😀', ' '],
  );
});

t.test('a path of more than 64 parts keeps its end in one name', async (t) => {
  const path = `/${Array.from({ length: 500 }, (_, index) => index).join('/')}`;
  let [node, depth] = [treeOf(path), 0];
  while (node.children.length > 0) [node, depth] = [node.children[0]!, depth + 1];
  t.equal(depth, 64);
  t.equal(node.path, path, 'and nothing of it is lost');
  t.equal(node.items.length, 1);
});
