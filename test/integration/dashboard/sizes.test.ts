/** The budget of what a browser loads, in bytes as gzip sends them. Brotli, which most browsers ask for, is a tenth smaller. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const DIST = join(import.meta.dirname, '../../../dashboard/dist');
const KILOBYTE = 1_000;

type File = { name: string; type: string; source?: string | null; imports?: string[]; isShared?: boolean };
const { files } = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as { files: File[] };

const gzipBytes = ({ name }: File) => statSync(join(DIST, `${name}.gz`)).size;
const sum = (of: readonly File[]) => of.map(gzipBytes).reduce((all, bytes) => all + bytes, 0);
const isOfType = (ending: string) => (file: File) => file.isShared !== true && file.name.endsWith(ending);

/** Returns the files that these sources begin, with all that they import at once. */
function loadedWith(...sources: string[]): File[] {
  const found = new Set(files.filter(({ source }) => sources.includes(source ?? '')));
  for (const file of found)
    for (const name of file.imports ?? []) found.add(files.find((one) => one.name === name)!);
  return [...found].filter(isOfType('.js'));
}

/** Compares a size with its budget, and says it. */
function hold(what: string, bytes: number, budget: number): void {
  t.ok(bytes > 0 && bytes <= budget, `${what}: ${(bytes / KILOBYTE).toFixed(1)} of ${budget / KILOBYTE} kB`);
}

hold('the scripts of the first page', sum(loadedWith('main.tsx', 'pages/requests/requests.tsx')), 45_000);
hold('all styles', sum(files.filter(isOfType('.css'))), 12_000);
// A page fetches a part of them. docs/decisions/0045-dashboard.md has what the largest are.
hold('all scripts without the API reference', sum(files.filter(isOfType('.js'))), 254_000);
