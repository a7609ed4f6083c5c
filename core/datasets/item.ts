/** The content of a dataset's item, and the hash by which contents are compared. */
import { createHash } from 'node:crypto';

/** JSON texts have no white space between their tokens. */
export type ItemContent = {
  externalId: string | null;
  /** JSON. */
  request: string;
  /** JSON; null: none. */
  expected: string | null;
  /** JSON. */
  metadata: string;
  split: string | null;
  cluster: string | null;
};

/**
 * Returns the SHA-256 of a content, in hexadecimal: of its six members, each with its length. Neither the id of an item nor
 * the request that it was made from is part of it. A JSON text counts as it is written, the order of members included.
 */
export function hashItem({ externalId, request, expected, metadata, split, cluster }: ItemContent): string {
  const hash = createHash('sha256');
  for (const text of [externalId, request, expected, metadata, split, cluster]) {
    hash.update(text === null ? '-;' : `${Buffer.byteLength(text)};`).update(text ?? '');
  }
  return hash.digest('hex');
}
