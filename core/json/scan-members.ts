import { JsonScanner, type ScannedMembers, type ScanOptions } from './json-scanner.ts';

/**
 * Reads all of `bytes` at once: for what is known to be short.
 * @throws JsonFault
 */
export function scanMembers(bytes: Buffer, options: ScanOptions): ScannedMembers {
  const scanner = new JsonScanner(bytes, options);
  scanner.read(bytes.length);
  return scanner.members;
}
