/** Reads `Accept-Encoding` (RFC 9110, section 12.5.3). */

/** The codings that are served, the preferred one first: sizes are about equal, and so is the order of their cost. */
const CODINGS = ['zstd', 'br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Encodings that a client accepts. */
export type Accepted = {
  /** The best coding; null: the client accepts none of ours, or prefers an uncompressed body. */
  coding: Coding | null;
  /** True when an uncompressed body is accepted. */
  isIdentityAccepted: boolean;
};

/** Names of codings that mean another one. */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' };
const WEIGHT = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Returns the weights by coding, in lower case. An entry whose weight cannot be read is left out. */
function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const entry of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (name === '') continue;
    const [parameter] = parameters;
    const weight = parameter === undefined ? 1 : Number(WEIGHT.exec(parameter)?.[1]);
    if (!Number.isNaN(weight)) weights.set(ALIASES[name] ?? name, weight);
  }
  return weights;
}

/**
 * Returns the encodings that a client accepts.
 * @param header null: the client sent none, and gets uncompressed bodies
 * @param offered the encodings to choose from, the preferred one first
 */
export function readAcceptEncoding(header: string | null, offered: readonly Coding[] = CODINGS): Accepted {
  if (header === null) return { coding: null, isIdentityAccepted: true };
  const weights = readWeights(header);
  const others = weights.get('*') ?? 0;
  let coding: Coding | null = null;
  let best = 0;
  for (const name of offered) {
    const weight = weights.get(name) ?? others;
    if (weight <= best) continue;
    coding = name;
    best = weight;
  }
  const identity = weights.get('identity') ?? (weights.get('*') === 0 ? 0 : null);
  if (identity !== null && identity > best) coding = null;
  return { coding, isIdentityAccepted: identity !== 0 };
}
