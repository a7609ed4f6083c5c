import { quoteValue } from '../contracts/quote-value.ts';

const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

/** Appends a name to the path of an error, as JavaScript writes it: `filter.left["user id"]`. */
export function childPath(path: string, name: string): string {
  return PLAIN_NAME.test(name) && name.length <= 80 ? `${path}.${name}` : `${path}[${quoteValue(name)}]`;
}
