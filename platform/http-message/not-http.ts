/** What came is no HTTP/1.1. The message says which rule it breaks. */
export class NotHttp extends Error {
  constructor(rule: string) {
    super(rule);
    this.name = 'NotHttp';
  }
}
