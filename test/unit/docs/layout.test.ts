/** docs/architecture/layout.md, against the folders. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../../..');
const document = readFileSync(join(root, 'docs/architecture/layout.md'), 'utf8');
const [, tree = ''] = /```\n(main\.ts .*?)```/s.exec(document) ?? [];

function foldersOf(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

for (const folder of ['core', 'platform']) {
  t.test(`the tree of docs/architecture/layout.md has the folders of ${folder}, and no other`, async (t) => {
    const [, block = ''] = new RegExp(`^${folder}/.*\\n((?: {2}.*\\n)+)`, 'm').exec(tree) ?? [];
    // Several folders may share a line; what they are for begins behind two spaces, or is not said.
    const named = [...block.matchAll(/^ {2}((?:[a-z-]+\/ *)+)/gm)].flatMap(([, names = '']) =>
      names.split('/').map((name) => name.trim()),
    );
    t.same(named.filter((name) => name !== '').sort(), foldersOf(folder).sort());
  });
}
