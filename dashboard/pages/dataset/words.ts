/** Changes of a dataset in words. Pure. */
import type { ItemChangesJson } from '#core/contracts/dataset.ts';
import { count } from '../../parts/formats/numbers.ts';

/** @example changesText({ version: 2, added: 3, changed: 0, unchanged: 1, removed: 0 }) // 'Version 2: 3 added, 1 unchanged' */
export function changesText({ version, ...counts }: ItemChangesJson): string {
  const parts = Object.entries(counts)
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `${count(number)} ${word}`);
  return `Version ${version}: ${parts.length === 0 ? 'nothing changed' : parts.join(', ')}`;
}

/** Returns the name of an export's file: letters, digits and hyphens of the dataset's name. */
export function exportName(name: string, version: number): string {
  const plain = name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return `${plain === '' ? 'dataset' : plain}-v${version}.jsonl`;
}
