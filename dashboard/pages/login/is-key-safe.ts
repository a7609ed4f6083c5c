/**
 * Returns whether a key that is typed into a page of this address crosses no network in the clear. Not `isSecureContext`: by
 * that, browsers differ about loopback.
 */
export function isKeySafe({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
