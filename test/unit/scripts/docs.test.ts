import { join } from 'node:path';
import t from 'tap';
import { readDocuments } from '../../../scripts/docs/read-documents.ts';
import { anchorsOf, findBreaches } from '../../../scripts/docs/rules.ts';

const FILES = ['README.md', 'docs/guides/limits.md', 'docs/index.md', 'lib/limits/hold.ts', 'main.ts'];

/** Returns the breaches of a docs/index.md with this text, as `line rule`. */
function breachesOf(text: string): string[] {
  const texts = new Map([
    ['docs/index.md', text],
    ['docs/guides/limits.md', '# Limits\n\n## When Postgres is away\n\n## Bounds\n'],
  ]);
  return findBreaches({ texts, files: FILES }).map(({ line, rule }) => `${line} ${rule}`);
}

const cases: { title: string; text: string; breaches: string[] }[] = [
  {
    title: 'a link to a file, a folder or another site passes',
    text: '[a](guides/limits.md) [b](../lib/limits) [c](../lib/) [d](https://example.com/x.md) [e](mailto:a@b.c)',
    breaches: [],
  },
  {
    title: 'a link to a file that does not exist is found, with its line',
    text: '# Map\n\n[limits](guides/limit.md)\n',
    breaches: ['3 the link guides/limit.md leads nowhere'],
  },
  {
    title: 'a link is read from the folder of its document',
    text: '[limits](docs/guides/limits.md)',
    breaches: ['1 the link docs/guides/limits.md leads nowhere'],
  },
  {
    title: 'an anchor must be a heading of the document it leads to',
    text: '# Here\n[a](guides/limits.md#when-postgres-is-away) [b](guides/limits.md#bound) [c](#here) [d](#there)',
    breaches: ['2 docs/guides/limits.md has no heading #bound', '2 docs/index.md has no heading #there'],
  },
  {
    title: 'an anchor in a source file is not looked at',
    text: '[line 7](../lib/limits/hold.ts#L7)',
    breaches: [],
  },
  {
    title: 'a file in backticks is named from the root, by its ending, or from the folder of the document',
    text: '`lib/limits/hold.ts`, `limits/hold.ts`, `hold.ts`, `guides/limits.md`, `lib/limits/`, `main.ts`',
    breaches: [],
  },
  {
    title: 'a file in backticks that does not exist is found',
    text: 'See `lib/limits/lease.ts`,\n`lease.ts` and `lib/leases`.',
    breaches: [
      '1 there is no file lib/limits/lease.ts',
      '2 there is no file lease.ts',
      '2 there is no file lib/leases',
    ],
  },
  {
    title: 'the text of a link is a name, too',
    text: '[lib/limits/lease.ts](../lib/limits/hold.ts)',
    breaches: ['1 there is no file lib/limits/lease.ts'],
  },
  {
    title: 'model names, patterns and values in backticks are not taken for files',
    text: '`openai/gpt-4o` `lib/**/*.ts` `<name>.ts` `secret.key` `POST /v1/log/request` `/v1/models`',
    breaches: [],
  },
  {
    title: 'a fenced example may name any file',
    text: '```sh\ncat lib/limits/lease.ts `x.ts` [a](b.md)\n```\n`y.ts`',
    breaches: ['4 there is no file y.ts'],
  },
];

for (const { title, text, breaches } of cases) {
  t.test(title, async (t) => t.same(breachesOf(text), breaches));
}

t.test('anchors are those that GitHub gives headings', async (t) => {
  const text =
    "## `npm run bench`, in short\n# The provider's [headers](x.md)\n# Bounds\n# Bounds\n```\n# none\n```\n";
  t.same([...anchorsOf(text)], ['npm-run-bench-in-short', 'the-providers-headers', 'bounds', 'bounds-1']);
});

t.test('the documents of this repository have no dead links and name no missing files', async (t) => {
  t.same(findBreaches(readDocuments(join(import.meta.dirname, '../../..'))), []);
});
