import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { DEFAULT_HTTP_PORT } from '../config/gateway-schema.ts';
import type { Config } from '../config/config-schema.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import { refuseUnsafeFolder } from '../stores/embedded/check-folder.ts';
import { readOnlyError, refuseOwned } from '../stores/embedded/ownership.ts';
import { unavailable } from './command-failure.ts';
import type { Terminal } from './terminal.ts';

/** Checks what this machine needs before a process starts, so that a problem is reported clearly and not in the middle of the start. */
export async function checkHost(
  config: Config,
  terminal: Terminal,
  part: 'worker' | 'gateway' | 'dev' = 'worker',
): Promise<void> {
  if (config.store === 'embedded') ensureFolder(config.folder);
  await checkPorts(config, part);
  if (part !== 'gateway' && process.getuid?.() === 0)
    terminal.warn('running as root: the tools have all its rights too');
  if (Date.now() < Date.UTC(2025, 0, 1)) {
    terminal.warn("this machine's clock is years behind; deadlines follow the store's clock");
  }
}

/** Checks the folder, or its nearest existing parent if it does not exist. Creates nothing: the start may still fail for other reasons. */
function ensureFolder(folder: string): void {
  try {
    let place = folder;
    while (statSync(place, { throwIfNoEntry: false }) === undefined && place !== dirname(place)) place = dirname(place);
    if (!statSync(place).isDirectory()) throw Object.assign(new Error(`${place} is no folder`), { code: 'ENOTDIR' });
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    refuseUnsafeFolder(folder);
  } catch (error) {
    const readOnly = error instanceof PlaneError ? error : readOnlyError(error);
    if (readOnly !== undefined) throw readOnly;
    const { code } = error as NodeJS.ErrnoException;
    throw unavailable(`The folder ${folder} cannot be used (${code}).`, 'Name another with --folder.', error);
  }
}

async function checkPorts(config: Config, part: 'worker' | 'gateway' | 'dev'): Promise<void> {
  try {
    const { enabled, host, port } = config[part === 'gateway' ? 'gateway' : 'worker'].health;
    if (enabled && port !== undefined) await ensurePortIsFree(host, port, '--port');
    await checkHttpPort(config, part);
  } catch (error) {
    // Often it is taken by a plane in the same folder. That is the cause, and another port would not help.
    if (part === 'dev') refuseOwned(config.folder);
    throw error;
  }
}

/** Checks that the HTTP port is free. A worker serves no HTTP. `dev` serves it, and tries other ports only if none is configured. */
async function checkHttpPort({ gateway: { http } }: Config, part: 'worker' | 'gateway' | 'dev'): Promise<void> {
  const port = http.port ?? (part === 'gateway' ? DEFAULT_HTTP_PORT : 0);
  if (part === 'worker' || !http.enabled || port === 0) return;
  await ensurePortIsFree(http.host, port, '--http-port');
}

function ensurePortIsFree(host: string, port: number, flag: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
      reject(unavailable(`The port ${port} on ${host} ${why}.`, `Name another with ${flag}.`, error));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
