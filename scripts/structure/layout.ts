/**
 * The layout that the rules enforce: the imports that each folder may have, and the exceptions. A folder that is named here
 * and does not exist breaks nothing.
 */

const ROLES = ['gateway', 'api', 'ingest', 'sinks', 'evaluators'] as const;

/** Top folders of the product, and the others that each may import. main.ts joins them all. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  platform: ['core'],
  ...Object.fromEntries(ROLES.map((role) => [role, ['core', 'platform']])),
  supervisor: ['core', 'platform'],
  dashboard: ['core'],
};

/** Top folders that package.json names in `imports`: other folders import them by that name. */
export const NAMED = new Set(['core', 'platform']);

/** Modules of the runtime that core may use: they compute, and reach nothing outside. */
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
  'temporal-polyfill',
]);

/** Pure code that must yield to the event loop between pieces of its work. */
export const MAY_YIELD = new Set(['core/chat/assemble.ts']);

/** Folders and files that may read the environment: the configuration, the tools of tests, and the examples. */
export const ENVIRONMENT_READERS = ['platform/config/', 'scripts/test.ts', 'test/', 'examples/'];

/** Files that may import Elysia: those with routes. */
export const ROUTE_PLACES = [/\/app\.ts$/, /\/routes\//, /^platform\/observability\/health\.ts$/];

/** The file of the constants that name the channels between processes. */
export const CHANNELS = 'core/contracts/channels.ts';

/** Scripts that generate the data of a folder by the folder's own rules, and may import any of its files. */
export const GENERATORS: Readonly<Record<string, readonly string[]>> = {
  'core/models': ['scripts/models/', 'scripts/update-models.ts'],
};

/** Tools of tests outside of test/. */
export const TEST_TOOLS = new Set(['scripts/test.ts']);

/** Folders of tests, below test/unit and test/integration, that mirror no sources because they are about many of them. */
export const TEST_TOPICS = new Set(['docs', 'api/fuzz', 'gateway/fuzz']);
