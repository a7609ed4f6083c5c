import { SECRET_MARK } from '#core/evaluations/mod.ts';

/** Parts of a secret that are as good as the secret: the token of `Bearer <token>`, a key without its prefix. */
const SHORTEST_PART = 8;

function formsOf(secret: string): string[] {
  const parts = secret.split(/[\s,;=:]+|^whsec_/).filter((part) => part.length >= SHORTEST_PART);
  return [secret, ...parts].flatMap((text) => [
    text,
    inJson(text),
    // An error that quotes an error.
    inJson(inJson(text)),
    encodeURIComponent(text.toWellFormed()),
  ]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * `text` with `[secret]` for every occurrence of a secret: as it is, as JSON or a URL writes it, and its long parts by
 * themselves. Mask before cutting: half of a secret is not found any more.
 */
export function maskSecrets(text: string, secrets: Iterable<string>): string {
  const forms = new Set([...secrets].filter((secret) => secret !== '').flatMap(formsOf));
  if (forms.size === 0) return text;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = longestFirst.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  return text.replaceAll(new RegExp(pattern, 'g'), SECRET_MARK);
}
