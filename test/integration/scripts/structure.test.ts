import t from 'tap';
import { findBreaches, readSource } from '../../../scripts/structure/rules.ts';

const MODULES = new Set(['core/http', 'core/filter', 'gateway', 'api', 'api/ingest']);

/** What the rules say of a file with this code, as `line rule`. */
function breachesOf(path: string, source: string): string[] {
  const files = [readSource(path, source)];
  return findBreaches({ files, modules: MODULES }).map(({ line, rule }) => `${line} ${rule}`);
}

const cases: { what: string; path: string; source: string; breaches: string[] }[] = [
  {
    what: 'gateway, api and evaluators keep apart',
    path: 'gateway/calls/handle.ts',
    source: "import type { A } from '../../api/mod.ts';\nconst b = await import('../../evaluators/mod.ts');",
    breaches: ['1 gateway must not import api', '2 gateway must not import evaluators'],
  },
  {
    what: 'core imports nothing of ours',
    path: 'core/log.ts',
    source: "export { a } from '../supervisor/mod.ts';",
    breaches: ['1 core must not import supervisor'],
  },
  {
    what: 'core goes by its name outside core',
    path: 'api/mod.ts',
    source: "import { a } from '../core/log.ts';",
    breaches: ['1 import core as #core/…'],
  },
  {
    what: 'core goes by relative paths inside core',
    path: 'core/keys/store.ts',
    source: "import { a } from '#core/log.ts';",
    breaches: ['1 inside core, import by relative path'],
  },
  {
    what: 'a folder is entered through its mod.ts',
    path: 'gateway/app.ts',
    source: "import {\n  serve,\n} from '#core/http/serve.ts';",
    breaches: ['3 enter core/http through its mod.ts'],
  },
  {
    what: 'a folder in a folder has a door of its own',
    path: 'main.ts',
    source: "import { startIngest } from './api/ingest/mod.ts';",
    breaches: [],
  },
  {
    what: 'pure code reads no clock, no file and no environment',
    path: 'core/filter/parse.ts',
    source: "import { readFileSync } from 'node:fs';\nconst now = Date.now();\nconst x = process.env.X;",
    breaches: [
      '1 pure code must not import node:fs',
      '2 pure code must not use Date.now',
      '3 pure code must not use process',
      '3 process.env is read in core/config only',
    ],
  },
  {
    what: 'elysia stays at the edge',
    path: 'api/requests/query.ts',
    source: "import { Elysia } from 'elysia';",
    breaches: ['1 elysia is imported in core/http, app.ts and routes/ only'],
  },
  {
    what: 'a channel name is written once',
    path: 'evaluators/worker/mod.ts',
    source: "const channel = 'assay_evaluations';\nconst other = 'assay_evaluations_due';",
    breaches: ["1 'assay_evaluations' is a channel: import it from core/contracts/channels.ts"],
  },
  {
    what: 'what comments mention is not code',
    path: 'gateway/app.ts',
    source: "// import '../api/mod.ts'\n/* process.env */ import { Elysia } from 'elysia';",
    breaches: [],
  },
];

for (const { what, path, source, breaches } of cases) {
  t.test(what, async (t) => t.same(breachesOf(path, source), breaches));
}
