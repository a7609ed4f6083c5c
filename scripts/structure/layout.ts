/**
 * The layout that the rules hold: which folder may import which, where core's purity ends, and what is not reached yet. A
 * folder that is named here and does not exist breaks nothing.
 */

const ROLES = ['gateway', 'api', 'ingest', 'evaluators'] as const;

/** Top folders of the product, and the others that each may import. main.ts joins them all. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  platform: ['core'],
  ...Object.fromEntries(ROLES.map((role) => [role, ['core', 'platform']])),
  supervisor: ['core', 'platform'],
};

/** Top folders that package.json names in `imports`: outside of them they are imported by that name. */
export const NAMED = new Set(['core', 'platform']);

/** What core may use of the runtime: computing, and nothing that reaches outside. */
export const PURE_BUILTINS = new Set([
  'node:buffer',
  'node:crypto',
  'node:string_decoder',
  'node:util',
  'node:zlib',
]);

/** Packages that core may import. Each computes, and touches neither files, network nor clock. */
export const PURE_PACKAGES = new Set([
  '@pydantic/genai-prices',
  '@sinclair/typebox',
  '@sinclair/typebox/compiler',
  'eventsource-parser',
  'lru-cache',
]);

/** Pure code that must yield to the event loop between pieces of its work. */
export const MAY_YIELD = new Set(['core/chat/assemble.ts']);

/** Where the environment is read; besides, test tools may read theirs. */
export const ENVIRONMENT_READERS = ['platform/config/', 'scripts/test.ts', 'test/'];

/** Where Elysia is imported: where routes are. */
export const ROUTE_PLACES = [/\/app\.ts$/, /\/routes\//, /^platform\/observability\/health\.ts$/];

/** The constants whose values are the names of channels between processes. */
export const CHANNELS = 'core/contracts/channels.ts';

/** Scripts that write the data of a folder from the folder's own rules, and may enter it by any file. */
export const GENERATORS: Readonly<Record<string, readonly string[]>> = {
  'core/models': ['scripts/models/', 'scripts/update-models.ts'],
};

/** Tools beside test/ that are parts of the tests all the same. */
export const TEST_TOOLS = new Set(['scripts/test.ts']);

/** Folders of tests, below test/unit and test/integration, that mirror no sources because they are about many of them. */
export const TEST_TOPICS = new Set(['docs', 'gateway/fuzz']);
