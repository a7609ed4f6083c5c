/** The built dashboard in memory: its files with their compressed forms, and the documents that load them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { Compile, parseWith } from '#core/contracts/check.ts';
import { pageDocument, referenceDocument } from './documents.ts';

/** Written by scripts/dashboard/build.mjs. */
const Manifest = Type.Object({
  script: Type.String(),
  /** Files that the script needs at once. */
  preloads: Type.Array(Type.String()),
  /** By the paths of the pages that people open first: the files that these need besides. */
  landingPages: Type.Record(Type.String(), Type.Array(Type.String())),
  style: Type.String(),
  icon: Type.String(),
  reference: Type.Object({ scripts: Type.Array(Type.String()), style: Type.String() }),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      /** True for a file that a document of another origin loads, as the API reference is. */
      isShared: Type.Optional(Type.Boolean()),
    }),
  ),
});
const manifestChecker = Compile(Manifest);

/** A file of the dashboard: its media type, and its bytes by coding. */
type DashboardFile = { type: string; isShared: boolean; identity: Buffer; br: Buffer; gzip: Buffer };

export type Dashboard = {
  /** Returns the document that the page of a path begins as. */
  page: (path: string) => string;
  /** The document of the API reference. */
  reference: string;
  files: ReadonlyMap<string, DashboardFile>;
};

/** Reads what scripts/dashboard/build.mjs has built; null: there is nothing. */
export async function readDashboard(directory: string): Promise<Dashboard | null> {
  const text = await readFile(join(directory, 'manifest.json'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
  if (text === null) return null;
  const manifest = parseWith(manifestChecker, JSON.parse(text));
  const files = await Promise.all(
    manifest.files.map(async ({ name, type, isShared = false }): Promise<[string, DashboardFile]> => {
      const [identity, br, gzip] = await Promise.all(
        ['', '.br', '.gz'].map((ending) => readFile(join(directory, `${name}${ending}`))),
      );
      return [name, { type, isShared, identity: identity!, br: br!, gzip: gzip! }];
    }),
  );
  const pageOf = (more: readonly string[]) =>
    pageDocument({ ...manifest, preloads: [...new Set([...manifest.preloads, ...more])] });
  const pages = new Map(Object.entries(manifest.landingPages).map(([path, more]) => [path, pageOf(more)]));
  const otherPage = pageOf([]);
  return {
    page: (path) => pages.get(path) ?? otherPage,
    reference: referenceDocument({ ...manifest.reference, icon: manifest.icon }),
    files: new Map(files),
  };
}
