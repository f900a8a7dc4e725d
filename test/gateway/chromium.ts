import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';
import { temporaryFolder } from '../support/process.ts';

const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** A real browser with an empty profile. */
export async function launchChromium(): Promise<{ readonly browser: Browser; close(): Promise<void> }> {
  const profile = temporaryFolder('sallyport browser');
  const env = { ...process.env, TMPDIR: profile.path } as Record<string, string>;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, env });
  return {
    browser,
    async close() {
      await browser.close();
      profile.remove();
    },
  };
}

export interface ForeignSite {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts another server on this machine that serves this page. The page tries to attack the gateway. */
export async function serveForeignPage(html: string): Promise<ForeignSite> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
