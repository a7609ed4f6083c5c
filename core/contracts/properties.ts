import { hash } from 'node:crypto';
import { foldName, storableText } from './storable-text.ts';

/** Custom properties by name. Made without a prototype, so that `__proto__` is a name like any other. */
export type Properties = Record<string, string>;

/** Returns properties as Postgres can hold them, with names as given; of names that are equal ignoring case, as filters compare them, the last one wins. */
export function storableProperties(pairs: Iterable<readonly [string, string]>): Properties {
  const properties: Properties = Object.create(null);
  const spellings = new Map<string, string>();
  for (const [given, value] of pairs) {
    const name = storableText(given);
    const folded = foldName(given);
    const before = spellings.get(folded);
    if (before !== undefined && before !== name) delete properties[before];
    spellings.set(folded, name);
    properties[name] = storableText(value);
  }
  return properties;
}

/** Returns properties with names in lower case, as filters compare them. */
export function foldProperties(properties: Properties): Properties {
  const folded: Properties = Object.create(null);
  for (const [name, value] of Object.entries(properties)) folded[foldName(name)] = value;
  return folded;
}

/**
 * Returns a 64-bit signed hash of one folded property, the key of the property index. Collisions are harmless: a look-up
 * by hash compares the value too.
 */
export function hashProperty(foldedName: string, value: string): bigint {
  return hash('sha256', JSON.stringify([foldedName, value]), 'buffer').readBigInt64BE(0);
}
