/** Returns the port of an address, also where the URL omits its scheme's default port. */
export function portOf(address: string): string {
  const { port, protocol } = new URL(address);
  return port || (protocol === 'https:' ? '443' : '80');
}
