/**
 * axe-core over a page as it stands: in both themes, the light one on the narrowest screen and the dark one on the widest. With
 * ACCESSIBILITY=full in the environment, both themes in three widths.
 */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const THEMES = ['light', 'dark'] as const;
/** A phone that is zoomed in to the width that WCAG asks for, a tablet, and a laptop. */
const WIDTHS = [320, 768, 1_440] as const;
const HEIGHT = 900;
type Theme = (typeof THEMES)[number];

/** Returns the themes that axe looks at in a width. */
function themesAt(width: number): readonly Theme[] {
  if (process.env.ACCESSIBILITY === 'full') return THEMES;
  if (width === WIDTHS[0]) return ['light'];
  return width === WIDTHS.at(-1) ? ['dark'] : [];
}

/** WCAG 2.2 AA, and what axe calls best practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const RUN = `axe.run({ runOnly: { type: 'tag', values: ${JSON.stringify(TAGS)} } })`;

/**
 * Returns every violation that axe finds, and every width at which the page scrolls sideways, as sentences. The context of the
 * page must bypass the Content-Security-Policy.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    const content = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (content > width) found.push(`At ${width} px the page is ${content} px wide and scrolls sideways`);
    for (const colorScheme of themesAt(width)) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await page.evaluate<AxeResults>(RUN);
      for (const { id, help, nodes } of violations) {
        const places = nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`);
        found.push(`${id}, ${colorScheme}, ${width} px: ${help}: ${places.join('; ')}`);
      }
    }
  }
  return found;
}
