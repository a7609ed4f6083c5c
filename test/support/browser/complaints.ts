/** What no page of the dashboard may do, collected while a story runs. */
import type { BrowserContext, Page } from 'playwright-core';

export type Complaints = {
  /** All so far, in order. */
  list(): string[];
  /** Takes out the complaints that match; returns how many they were. */
  take(pattern: RegExp): number;
};

/** Chromium writes most violations to the console by itself, but not all of those in frames and of Trusted Types. */
const REPORT_VIOLATIONS = `
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
    console.error('Violation of ' + effectiveDirective + ': ' + blockedURI + ' ' + sample);
  });`;

function collectFromPage(page: Page, complain: (sentence: string) => void): void {
  page.on('pageerror', (error) => complain(`Error: ${error.message}`));
  page.on('dialog', (dialog) => {
    // An alert is how most attacks prove that their script ran.
    complain(`Dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}

/** Collects errors on the console, uncaught errors, violations of the policy, dialogs, and requests to any other origin. */
export async function collectComplaints(context: BrowserContext, origin: string): Promise<Complaints> {
  let complaints: string[] = [];
  const complain = (sentence: string) => complaints.push(sentence);
  await context.addInitScript({ content: REPORT_VIOLATIONS });
  context.on('page', (page) => collectFromPage(page, complain));
  context.on('console', (message) => {
    if (message.type() === 'error') complain(`Console: ${message.text()} (${message.location().url})`);
  });
  context.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked !== origin && protocol !== 'data:' && protocol !== 'blob:')
      complain(`Request elsewhere: ${request.method()} ${request.url()}`);
  });
  return {
    list: () => [...complaints],
    take(pattern) {
      const left = complaints.filter((sentence) => !pattern.test(sentence));
      const taken = complaints.length - left.length;
      complaints = left;
      return taken;
    },
  };
}
