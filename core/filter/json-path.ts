import { quoteValue } from '../contracts/check.ts';

const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

/** `filter.left` and `user id` as `filter.left["user id"]`: where an error is, as one would write it in JavaScript. */
export function childPath(path: string, name: string): string {
  return PLAIN_NAME.test(name) && name.length <= 80 ? `${path}.${name}` : `${path}[${quoteValue(name)}]`;
}
