/** The rules of the documents: links lead somewhere, and files that are named exist. Pure. */
import { posix } from 'node:path';

export type Breach = { path: string; line: number; rule: string };

export type Documents = {
  /** Markdown files by their path from the root. */
  texts: ReadonlyMap<string, string>;
  /** Every file of the repository, from the root. */
  files: readonly string[];
};

/** Extensions of names that must be files of the repository; names with others may be examples. */
const FILE_NAME = /^[\w.@-]+(?:\/[\w.@-]+)*\.(?:ts|mjs|py|sql|md|yaml)$/;
const PATH = /^[\w.@-]+(?:\/[\w.@-]+)+\/?$/;
const LINK = /\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;
const CODE = /`([^`\n]+)`/g;
const FENCE = /^(?: {0,3})(```|~~~).*?\n[\s\S]*?^(?: {0,3})\1.*$/gm;

/** Blanks fenced code, which holds examples, and keeps its lines. */
function withoutFences(text: string): string {
  return text.replaceAll(FENCE, (block) => block.replaceAll(/[^\n]/g, ' '));
}

/** Returns the anchor that GitHub gives a heading. */
function slugOf(heading: string): string {
  const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return plain
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/**
 * Returns the anchors of a document's headings; a heading that occurs again gets a number.
 * @internal Exported so that tests check single headings.
 */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ''] of withoutFences(text).matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)) {
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** Returns every path that exists: the files, and the folders that hold them. */
function placesOf(files: readonly string[]): Set<string> {
  const places = new Set<string>(['.']);
  for (const file of files)
    for (let path = file; path !== '.' && !places.has(path); path = posix.dirname(path)) places.add(path);
  return places;
}

type Checker = {
  /** Returns the rule that a link breaks, else null. */
  ofLink(document: string, target: string): string | null;
  /** Returns the rule that a name in a text or in code breaks, else null. */
  ofName(document: string, name: string): string | null;
};

function createChecker({ texts, files }: Documents): Checker {
  const places = placesOf(files);
  const folders = new Set([...places].filter((place) => !place.includes('/')));
  // `hold.ts` may stand for platform/limiter/hold.ts where the sentence makes its folder clear.
  const endings = new Set(
    [...places].flatMap((place) => place.split('/').map((_, i, all) => all.slice(i).join('/'))),
  );
  const anchors = new Map([...texts].map(([path, text]) => [path, anchorsOf(text)]));
  return {
    ofLink(document, target) {
      if (/^[a-z][a-z+.-]*:/i.test(target)) return null;
      const [path = '', anchor = ''] = target.split('#');
      const place = path === '' ? document : posix.join(posix.dirname(document), path).replace(/\/$/, '');
      if (!places.has(place)) return `the link ${target} leads nowhere`;
      const headings = anchors.get(place);
      const isKnown = anchor === '' || headings === undefined || headings.has(anchor);
      return isKnown ? null : `${place} has no heading #${anchor}`;
    },
    ofName(document, name) {
      const isPath = PATH.test(name) && folders.has(name.split('/')[0] ?? '');
      if (!isPath && !FILE_NAME.test(name)) return null;
      const path = name.replace(/\/$/, '');
      const near = posix.join(posix.dirname(document), path);
      return endings.has(path) || places.has(near) ? null : `there is no file ${name}`;
    },
  };
}

/** Finds dead links and anchors, and names of files that do not exist, by document and line. */
export function findBreaches(documents: Documents): Breach[] {
  const checker = createChecker(documents);
  const breaches: Breach[] = [];
  for (const [path, text] of documents.texts) {
    const prose = withoutFences(text);
    const add = (index: number, rule: string | null) => {
      if (rule === null) return;
      breaches.push({ path, line: prose.slice(0, index).split('\n').length, rule });
    };
    for (const { 1: label = '', 2: target = '', index } of prose.matchAll(LINK)) {
      add(index, checker.ofLink(path, target));
      if (!label.includes('`')) add(index, checker.ofName(path, label));
    }
    for (const { 1: code = '', index } of prose.matchAll(CODE)) add(index, checker.ofName(path, code));
  }
  return breaches.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}
