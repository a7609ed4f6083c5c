/**
 * The place of a source's tests: the folder of test/unit or test/integration that mirrors the source's own folder, or is
 * named like the source. `core/json/members.ts` is tested in `test/unit/core/json/…` or `test/unit/core/json/members/…`.
 */
import { dirname } from 'node:path';
import { MAY_IMPORT, TEST_TOPICS } from './layout.ts';
import { type Breach, topOf } from './rule.ts';

const TEST_ROOTS = ['test/unit', 'test/integration'];

/** A folder of a page. What is drawn elsewhere in dashboard/ is shown by the stories of the pages that draw it. */
const PAGE_FOLDER = /^dashboard\/pages\/[^/]+\//;

/**
 * Returns whether a source must have tests: those of the product must, except lists of exports and declarations, and except what
 * only draws parts of pages.
 */
function needsTest(path: string): boolean {
  if (!(topOf(path) in MAY_IMPORT) || /\/mod\.ts$|\.d\.ts$/.test(path)) return false;
  return !path.startsWith('dashboard/') || path.endsWith('.ts') || PAGE_FOLDER.test(path);
}

function withoutExtension(path: string): string {
  return path.replace(/\.tsx?$/, '');
}

function foldersWithTests(paths: readonly string[]): Set<string> {
  return new Set(paths.filter((path) => path.endsWith('.test.ts')).map((path) => dirname(path)));
}

function foldersWithoutTests(paths: readonly string[], tested: ReadonlySet<string>): string[] {
  const hasPlace = (source: string) =>
    TEST_ROOTS.some(
      (root) => tested.has(`${root}/${dirname(source)}`) || tested.has(`${root}/${withoutExtension(source)}`),
    );
  const untested = paths.filter((path) => needsTest(path) && !hasPlace(path));
  return [...new Set(untested.map((path) => dirname(path)))].sort();
}

/** Returns whether a folder of tests mirrors sources, or is about a topic of one room: `platform/http-server/conformance`. */
function mirrorsSources(folder: string, sources: ReadonlySet<string>): boolean {
  const room = folder.split('/').slice(0, 2).join('/');
  return [folder, room].some((one) =>
    [...sources].some((source) => source === one || source.startsWith(`${one}/`)),
  );
}

/** Returns the folders of sources that have no test place, and the folders of tests that mirror no sources. */
export function findMisplacedTests(paths: readonly string[]): Breach[] {
  const tested = foldersWithTests(paths);
  const sources = new Set(
    paths
      .filter((path) => !path.startsWith('test/'))
      .flatMap((path) => [dirname(path), withoutExtension(path)]),
  );
  const missing = foldersWithoutTests(paths, tested).map((folder) => ({
    path: folder,
    line: 1,
    rule: `has sources without a test place: add tests to test/unit/${folder}/ or test/integration/${folder}/`,
  }));
  const sourceless = [...tested].flatMap((folder) => {
    const root = TEST_ROOTS.find((one) => folder.startsWith(`${one}/`));
    if (root === undefined) return [];
    const mirrored = folder.slice(root.length + 1);
    if (TEST_TOPICS.has(mirrored) || mirrorsSources(mirrored, sources)) return [];
    return [
      { path: folder, line: 1, rule: `mirrors no sources: there is no ${mirrored}/; move these tests` },
    ];
  });
  return [...missing, ...sourceless];
}
