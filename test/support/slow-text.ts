import { seededRandom } from './random.ts';

const random = seededRandom(1);

/** A text of so many of these signs in any order: no two stretches of it are equal, so none is quick because of another. */
export function mixed(signs: readonly string[], length: number): string {
  return Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join('');
}

/** Another one each time. What takes longest to count of all that was tried: a third of a second for what is counted of a long text. */
export const slowText = (length: number): string => mixed([...'กขคงจฉชซญดตถทธนบปผพฟมยรลวสหอ'], length);
