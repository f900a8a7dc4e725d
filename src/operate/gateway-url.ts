import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_HTTP_PORT } from '../config/gateway-schema.ts';
import type { Config } from '../config/config-schema.ts';

/**
 * The file with the URL of the gateway, next to the embedded store. Commands use it to find a gateway that listens on another port than the
 * configured one. It contains no secret.
 */
const urlFile = (folder: string): string => join(folder, 'gateway.json');

export function writeGatewayUrl({ store, folder }: Config, url: string): void {
  if (store !== 'embedded') return;
  const draft = `${urlFile(folder)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 });
  renameSync(draft, urlFile(folder));
}

export function forgetGatewayUrl({ store, folder }: Config, url: string): void {
  if (store === 'embedded' && readUrl(folder) === url) rmSync(urlFile(folder), { force: true });
}

/**
 * The URL that the running gateway wrote, or the one in the configuration. `isGuess`: neither is known, so it is the default port. On Redis a
 * gateway writes no URL, because it may run on another machine.
 */
export function findGatewayUrl({ store, folder, gateway: { http } }: Config): {
  readonly url: string;
  readonly isGuess: boolean;
} {
  const publishedUrl = store === 'embedded' ? readUrl(folder) : undefined;
  const host = ['0.0.0.0', '::'].includes(http.host) ? '127.0.0.1' : http.host;
  const url = publishedUrl ?? `http://${host}:${http.port ?? DEFAULT_HTTP_PORT}`;
  return { url, isGuess: publishedUrl === undefined && (http.port ?? 0) === 0 };
}

function readUrl(folder: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(urlFile(folder), 'utf8')) as { url?: unknown; pid?: unknown };
    // Throws when the process is gone: a gateway that was killed could not delete its URL.
    process.kill(Number(pid), 0);
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}
