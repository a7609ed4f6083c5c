/** The port of an address. A URL leaves out the one that its scheme stands for. */
export function portOf(address: string): string {
  const { port, protocol } = new URL(address);
  return port || (protocol === 'https:' ? '443' : '80');
}
