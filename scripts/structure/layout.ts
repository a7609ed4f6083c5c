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

/**
 * Parts of core that reach outside and are to move to platform: neither are they held to core's purity, nor may the rest
 * of core import them. When this list names nothing that exists, remove it.
 */
export const NOT_YET_MOVED = [
  'core/announcements/',
  'core/clock.ts',
  'core/config/',
  'core/descriptors.ts',
  'core/fair-slots.ts',
  'core/http/',
  'core/ids.ts',
  'core/internal-call.ts',
  'core/keys/',
  'core/lifecycle.ts',
  'core/limits/',
  'core/log.ts',
  'core/metrics.ts',
  'core/outbound/',
  'core/postgres/',
  'core/process-lock.ts',
  'core/provider-keys/',
  'core/proxy/',
  'core/secrets/',
  'core/tls/',
  'core/tokens/',
  'core/turns/',
];

/** Pure code that must yield to the event loop between pieces of its work. */
export const MAY_YIELD = new Set(['core/chat/assemble.ts']);

/** Where the environment is read; besides, test tools may read theirs. */
export const ENVIRONMENT_READERS = ['platform/config/', 'core/config/', 'scripts/test.ts', 'test/'];

/** Where Elysia is imported: where routes are. */
export const ROUTE_PLACES = [
  /\/app\.ts$/,
  /\/routes\//,
  /^platform\/observability\/health\.ts$/,
  /^platform\/http-server\//,
  /^core\/http\//,
];

/** The constants whose values are the names of channels between processes. */
export const CHANNELS = 'core/contracts/channels.ts';

/** Tools beside test/ that are parts of the tests all the same. */
export const TEST_TOOLS = new Set(['scripts/test.ts']);

/** Folders whose unused exports are counted and not refused yet. Remove a folder when its count is 0. */
export const UNUSED_NOT_REFUSED_YET = ['gateway', 'api', 'ingest'];

/** Folders of tests, below test/unit and test/integration, that mirror no sources because they are about many of them. */
export const TEST_TOPICS = new Set(['docs', 'gateway/anthropic', 'gateway/fuzz']);
