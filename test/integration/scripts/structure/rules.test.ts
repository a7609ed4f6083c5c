/** The rules of the layout, for one source at a time. */
import t from 'tap';
import { channelNames, findBreaches } from '../../../../scripts/structure/rules.ts';
import { readSource } from '../../../../scripts/structure/source.ts';

const MODULES = new Set(['platform/nats', 'core/filter', 'gateway', 'api']);
const PACKAGES = new Set(['openai', '@anthropic-ai/sdk']);

/** Returns what the rules for single files say of these sources, as `line rule` up to the rule's first colon. */
function breachesOf(sources: Record<string, string>): string[] {
  const files = Object.entries(sources).map(([path, source]) => readSource(path, source));
  return findBreaches({ files, modules: MODULES, channels: channelNames(files), packages: PACKAGES }).map(
    ({ line, rule }) => `${line} ${rule.split(':')[0]}`,
  );
}

const cases: { title: string; path: string; source: string; breaches: string[] }[] = [
  {
    title: 'a role must not import another role, statically or dynamically',
    path: 'gateway/calls/handle.ts',
    source: "import type { A } from '../../api/mod.ts';\nconst b = await import('../../ingest/mod.ts');",
    breaches: ['1 gateway must not import api', '2 gateway must not import ingest'],
  },
  {
    title: 'the supervisor must not import a role',
    path: 'supervisor/run.ts',
    source: "import { a } from '../evaluators/mod.ts';",
    breaches: ['1 supervisor must not import evaluators'],
  },
  {
    title: 'platform must not import a role',
    path: 'platform/nats/mod.ts',
    source: "import { a } from '../../api/mod.ts';",
    breaches: ['1 platform must not import api'],
  },
  {
    title: 'core must not import platform',
    path: 'core/json/scan.ts',
    source: "export { a } from '#platform/nats/mod.ts';",
    breaches: ['1 core must not import platform'],
  },
  {
    title: 'a role, the supervisor and platform may import core',
    path: 'platform/nats/connect.ts',
    source: "import { a } from '#core/filter/mod.ts';",
    breaches: [],
  },
  {
    title: 'core is imported by its name from outside',
    path: 'api/mod.ts',
    source: "import { a } from '../core/json/scan.ts';",
    breaches: ['1 import core as #core/…'],
  },
  {
    title: 'platform is imported by its name from outside',
    path: 'test/unit/a.test.ts',
    source: "import { a } from '../../platform/nats/mod.ts';",
    breaches: ['1 import platform as #platform/…'],
  },
  {
    title: 'core is imported by relative paths from inside',
    path: 'core/filter/parse.ts',
    source: "import { a } from '#core/json/scan.ts';",
    breaches: ['1 inside core, import by relative path'],
  },
  {
    title: 'a folder is entered by its mod.ts, also in an import of several lines',
    path: 'gateway/app.ts',
    source: "import {\n  connect,\n} from '#platform/nats/connect.ts';",
    breaches: ['3 enter platform/nats by its mod.ts'],
  },
  {
    title: 'a test may enter a folder by any file',
    path: 'test/unit/platform/nats/connect.test.ts',
    source: "import { connect } from '#platform/nats/connect.ts';",
    breaches: [],
  },
  {
    title: 'core reads no clock, no file and no environment, draws no random numbers and sets no timers',
    path: 'core/filter/parse.ts',
    source: [
      "import { readFileSync } from 'node:fs';",
      'const now = Date.now();',
      'const x = process.env.X;',
      'const y = Math.random();',
      'setTimeout(f, 1);',
    ].join('\n'),
    breaches: [
      '1 core must not import node',
      '2 core must not use Date.now',
      '3 core must not use process',
      '4 core must not use Math.random',
      '5 core must not use setTimeout',
      '3 only platform/config reads the environment',
    ],
  },
  {
    title: 'core imports only the packages that are listed as pure',
    path: 'core/contracts/a.ts',
    source: "import { Type } from '@sinclair/typebox';\nimport postgres from 'postgres';",
    breaches: ['2 core must not import postgres'],
  },
  {
    title: 'only platform/config reads the environment',
    path: 'gateway/app.ts',
    source: 'const level = process.env.LOG_LEVEL;',
    breaches: ['1 only platform/config reads the environment'],
  },
  {
    title: 'an example imports packages of package.json and modules of the runtime',
    path: 'examples/call.mjs',
    source:
      "import { setTimeout } from 'node:timers/promises';\nimport Anthropic from '@anthropic-ai/sdk';\nimport { OpenAI } from 'openai/client';\nconst { KEY } = process.env;",
    breaches: [],
  },
  {
    title: 'an example imports nothing of the project, and no package that npm start does not install',
    path: 'examples/call.mjs',
    source:
      "import { ask } from './ask.mjs';\nimport { parseFilter } from '#core/filter/mod.ts';\nimport { chat } from 'left-pad';",
    breaches: [
      '1 an example must not import ./ask.mjs',
      '2 an example must not import #core/filter/mod.ts',
      '3 an example must not import left-pad',
    ],
  },
  {
    title: 'elysia is imported where routes are, and nowhere else',
    path: 'api/requests/query.ts',
    source: "import { Elysia } from 'elysia';",
    breaches: ['1 elysia is imported in app.ts and in routes/ only'],
  },
  {
    title: 'a handler of a route whose body is on the next line is async',
    path: 'api/routes/requests.ts',
    source:
      "app\n  .get(\n    '/a',\n    ({ key }) =>\n      find(key),\n  )\n  .get('/b', ({ key }) => find(key))\n  .get(\n    '/c',\n    async ({ key }) =>\n      find(key),\n  );",
    breaches: ['4 a handler whose body is on the next line must be async'],
  },
  {
    title: 'product code must not import test/',
    path: 'scripts/demo.ts',
    source: "import { a } from '../test/support/assay.ts';",
    breaches: ['1 only tests import test/'],
  },
  {
    title: 'an import names what it takes',
    path: 'gateway/mod.ts',
    source: "import './register.ts';\nimport { a } from './a.ts';",
    breaches: ['1 an import must name what it takes'],
  },
  {
    title: 'a package is not imported at run time but by a file that names what it takes',
    path: 'platform/nats/connect.ts',
    source: "type A = typeof import('nats');\nconst a = import('nats');\nconst b = import('./library.ts');",
    breaches: ['2 import a package at run time through a file of your own that names what it takes'],
  },
  {
    title: 'the dashboard imports core and no other folder',
    path: 'dashboard/pages/requests/requests.tsx',
    source: "import type { A } from '#platform/nats/mod.ts';\nimport { b } from '../../../api/mod.ts';",
    breaches: ['1 dashboard must not import platform', '2 dashboard must not import api'],
  },
  {
    title: 'nothing of the product imports the dashboard',
    path: 'main.ts',
    source: "import { App } from './dashboard/app.tsx';",
    breaches: ['1 only scripts and tests import dashboard'],
  },
  {
    title: 'the dashboard uses nothing of Node, and only packages that are bundled',
    path: 'dashboard/client/call.ts',
    source: [
      "import { join } from 'node:path';",
      "import { signal } from '@preact/signals';",
      "import OpenAI from 'openai';",
      "const bytes = Buffer.from('');",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a program that is shown, with both kinds of quotation marks in it
      'const shown = "headers: { a: `${process.env.A}`, b: \'c\' }";',
    ].join('\n'),
    breaches: [
      '1 dashboard must not import node',
      '3 dashboard must not import openai',
      '4 dashboard must not use Buffer',
    ],
  },
  {
    title: 'the dashboard takes types from the contracts, and values only from elsewhere in core',
    path: 'dashboard/client/call.ts',
    source: [
      "import type { RowPage } from '#core/contracts/rows.ts';",
      "import { type SortField } from '#core/contracts/query.ts';",
      "import { parse } from '#core/filter/mod.ts';",
    ].join('\n'),
    breaches: ['2 dashboard takes types alone from core/contracts, by import type'],
  },
  {
    title: 'no text becomes HTML or code in the dashboard',
    path: 'dashboard/parts/text/hostile.tsx',
    source: [
      'element.innerHTML = text;',
      'return <p dangerouslySetInnerHTML={{ __html: text }} />;',
      "element.insertAdjacentHTML('beforeend', text);",
      'document.write(text);',
      'eval(text);',
      'new Function(text);',
      "trustedTypes.createPolicy('mine', {});",
    ].join('\n'),
    breaches: [
      '1 dashboard must not use innerHTML',
      '2 dashboard must not use dangerouslySetInnerHTML',
      '3 dashboard must not use insertAdjacentHTML',
      '4 dashboard must not use document.write',
      '5 dashboard must not use eval',
      '6 dashboard must not use new Function',
      '7 only dashboard/workers/start.ts makes a policy of Trusted Types',
    ],
  },
  {
    title: 'comments are not checked as code, and do not begin within strings',
    path: 'gateway/app.ts',
    source: [
      "// import '../api/mod.ts'",
      '/* process.env */ const glob = \'**/*.ts\'; const address = "http://x"; const slash = /[/*\'"]/;',
      "import { Elysia } from 'elysia';",
      'const x = process.env.X;',
    ].join('\n'),
    breaches: ['4 only platform/config reads the environment'],
  },
];

for (const { title, path, source, breaches } of cases) {
  t.test(title, async (t) => t.same(breachesOf({ [path]: source }), breaches));
}

t.test('a channel name is written in the contracts and imported everywhere else', async (t) => {
  const sources = {
    'core/contracts/channels.ts': "export const EVALUATIONS_CHANNEL = 'assay_evaluations';",
    'ingest/schedule.ts': "const sql = 'select 1';\nconst channel = 'assay_evaluations';",
  };
  t.same(breachesOf(sources), ["2 import the channel 'assay_evaluations' from core/contracts/channels.ts"]);
});
