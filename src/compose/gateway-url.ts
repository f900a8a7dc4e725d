import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_HTTP_PORT } from '../config/gateway-schema.ts';
import type { Config } from '../config/config-schema.ts';

/** Beside the embedded store, so that commands find a gateway that took another port. No secret. */
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
 * What the running gateway told, or where the configuration puts it. `isGuess`: neither says, so it is the usual port. On Redis a gateway
 * tells nobody its address, because it may run on another machine.
 */
export function findGatewayUrl({ store, folder, gateway: { http } }: Config): {
  readonly url: string;
  readonly isGuess: boolean;
} {
  const told = store === 'embedded' ? readUrl(folder) : undefined;
  const host = ['0.0.0.0', '::'].includes(http.host) ? '127.0.0.1' : http.host;
  const url = told ?? `http://${host}:${http.port ?? DEFAULT_HTTP_PORT}`;
  return { url, isGuess: told === undefined && (http.port ?? 0) === 0 };
}

function readUrl(folder: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(urlFile(folder), 'utf8')) as { url?: unknown; pid?: unknown };
    // Throws when it is gone: one that was killed could not take its address back.
    process.kill(Number(pid), 0);
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}
