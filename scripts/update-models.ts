/**
 * Writes core/models/models.json, the list behind GET /v1/models, from the installed @pydantic/genai-prices (names,
 * prices), models.dev (release dates) and scripts/models/ (the models that serve chat completions, dates that models.dev
 * lacks, makers). Run it after an upgrade of the price registry, and to get new release dates.
 *
 *     npm run update:models                     fetches models.dev
 *     npm run update:models -- --offline        uses the release dates of the last time
 *     npm run update:models -- --from api.json  reads a copy of https://models.dev/api.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { CATALOG_ORDER } from '#core/models/provider-of.ts';
import { registryModels } from '#core/models/registry.ts';
import { buildModels, modelsDevName, type ReleaseDates } from './models/build.ts';

const MODELS_DEV = 'https://models.dev/api.json';
const TIMEOUT_MS = 30_000;
const OUTPUT = join(import.meta.dirname, '../core/models/models.json');
const DATES = join(import.meta.dirname, 'models/release-dates.json');
const OVERRIDES = join(import.meta.dirname, 'models/overrides.json');

const ModelsDev = Type.Record(
  Type.String(),
  Type.Object({
    models: Type.Record(
      Type.String(),
      Type.Object({ release_date: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
    ),
  }),
);

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** Returns the dates of the registry's models only: models.dev has many more. */
function datesIn(listed: Static<typeof ModelsDev>): ReleaseDates {
  const providers = CATALOG_ORDER.map((provider) => {
    const ids = registryModels(provider).flatMap(({ names }) => names);
    const models = listed[modelsDevName(provider)]?.models ?? {};
    const dates = [...new Set(ids)].sort().flatMap((id) => {
      const date = models[id]?.release_date;
      return date ? [[id, date] as const] : [];
    });
    return [modelsDevName(provider), Object.fromEntries(dates)] as const;
  });
  return Object.fromEntries(providers);
}

async function modelsDev(from: string | undefined): Promise<unknown> {
  if (from !== undefined) return readJson(from);
  const response = await fetch(MODELS_DEV, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${MODELS_DEV} answered ${response.status}`);
  return await response.json();
}

const { values } = parseArgs({
  options: { offline: { type: 'boolean', default: false }, from: { type: 'string' } },
});
if (!values.offline) {
  const listed = Value.Parse(ModelsDev, await modelsDev(values.from));
  writeFileSync(DATES, `${JSON.stringify(datesIn(listed), null, 2)}\n`);
}
const text = buildModels(readJson(DATES), readJson(OVERRIDES));
const isSame = readFileSync(OUTPUT, 'utf8') === text;
writeFileSync(OUTPUT, text);
process.stdout.write(isSame ? 'core/models/models.json is up to date\n' : 'Wrote core/models/models.json\n');
