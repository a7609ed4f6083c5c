import { JsonScanner } from './json-scanner.ts';
import type { ScannedMembers, ScanOptions } from './scanned-members.ts';

/**
 * Scans all of `bytes` at once; for short texts only.
 * @throws JsonFault
 */
export function scanMembers(bytes: Buffer, options: ScanOptions): ScannedMembers {
  const scanner = new JsonScanner(bytes, options);
  scanner.read(bytes.length);
  return scanner.members;
}
