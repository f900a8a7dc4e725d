import type { BrowserContextOptions } from 'playwright-core';
import { expect } from 'vitest';
import { expectCalm, type ConsoleBrowser, type ConsolePage } from './browser.ts';

/** The three displays on which every page is checked. */
export const LOOKS: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];

/** Opens a page on one display and checks it: no serious finding of axe, no horizontal scrolling, no incident. Also takes a screenshot. */
export async function expectGoodLook(
  browser: ConsoleBrowser,
  [look, options]: (typeof LOOKS)[number],
  { name, path, prepare }: { name: string; path: string; prepare: (shown: ConsolePage) => Promise<void> },
): Promise<void> {
  const shown = await browser.signIn(options);
  await shown.open(path);
  await prepare(shown);
  expect(await shown.findings()).toEqual([]);
  const tooWide = await shown.page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(tooWide).toBe(0);
  await shown.picture(`${name}-${look}`);
  expectCalm(shown);
  await shown.close();
}
