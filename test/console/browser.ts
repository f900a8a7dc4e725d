import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { temporaryFolder } from '../support/process.ts';
import { PATIENCE_MS } from '../support/watched-process.ts';
import type { DeskPlane } from './desk-plane.ts';

const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const COOKIE = { name: '__Host-sallyport', path: '/', secure: true, httpOnly: true, sameSite: 'Strict' } as const;

/** Incidents that must never happen in the console, whatever it shows. */
interface Incidents {
  readonly dialogs: string[];
  readonly errors: string[];
  /** Requests to any other server than the gateway. */
  readonly foreign: string[];
}

export interface ConsolePage {
  readonly page: Page;
  readonly incidents: Incidents;
  open(path: string): Promise<void>;
  /** Resolves when the shown question was visible long enough to be decided. */
  ready(): Promise<void>;
  press(...keys: string[]): Promise<void>;
  /** Serious and critical findings of axe on the current page. */
  findings(): Promise<string[]>;
  /** Writes a screenshot to the folder that SCREENSHOTS names; does nothing without it. */
  picture(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Expects no dialog, no error (a violation of the content security policy is one) and no request to another server. */
export function expectCalm({ incidents }: ConsolePage): void {
  expect(incidents).toEqual({ dialogs: [], errors: [], foreign: [] });
}

export interface ConsoleBrowser {
  /** Opens a page with the console's cookie: the user is signed in. */
  signIn(options?: BrowserContextOptions): Promise<ConsolePage>;
  /** Opens a page without the cookie: the user is not signed in. */
  stranger(): Promise<ConsolePage>;
  close(): Promise<void>;
}

export type BrowsedPlane = Pick<DeskPlane, 'url' | 'cookie'>;

/** A real Chromium with an empty profile. */
export async function openBrowser(plane: BrowsedPlane): Promise<ConsoleBrowser> {
  const profile = temporaryFolder('sallyport browser');
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: FLAGS,
    env: { ...process.env, TMPDIR: profile.path } as Record<string, string>,
  });
  return {
    async signIn(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
      await context.addCookies([{ ...COOKIE, value: plane.cookie, domain: '127.0.0.1' }]);
      return watchPage(context, plane);
    },
    stranger: async () => watchPage(await browser.newContext(), plane),
    close: () => closeBrowser(browser, profile),
  };
}

async function closeBrowser(browser: Browser, profile: { remove(): void }): Promise<void> {
  await browser.close();
  profile.remove();
}

async function watchPage(context: BrowserContext, plane: BrowsedPlane): Promise<ConsolePage> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const incidents: Incidents = { dialogs: [], errors: [], foreign: [] };
  page.on('dialog', (dialog) => {
    incidents.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => incidents.errors.push(error.message));
  // A violation of the content security policy also appears as an error on the browser's console.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      incidents.errors.push(message.text());
    }
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${plane.url}/`) && !request.url().startsWith('data:')) {
      incidents.foreign.push(request.url());
    }
  });
  return {
    page,
    incidents,
    open: async (path) => void (await page.goto(`${plane.url}${path}`)),
    ready: () => page.locator('.question[data-ready="true"]').waitFor(),
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    findings: () => findingsOf(context, page),
    async picture(name) {
      const folder = process.env['SCREENSHOTS'];
      if (folder === undefined) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', scale: 'css' });
    },
    close: () => context.close(),
  };
}

/** Runs axe through the debugger, because the page's own policy allows no foreign script. */
async function findingsOf(context: BrowserContext, page: Page): Promise<string[]> {
  const session = await context.newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document).then(({ violations, passes }) => JSON.stringify({
      passed: passes.length,
      found: violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')),
    }))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
  const { passed, found } = JSON.parse(String(result.value)) as { passed: number; found: string[] };
  if (passed === 0) throw new Error('axe looked at nothing.');
  return found;
}
