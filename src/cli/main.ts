#!/usr/bin/env node
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/*
 * What runs before the program is loaded. Only old syntax and built-in modules: an old Node has to get as far as its message, and the
 * cache of compiled code helps only with what is loaded after it was switched on.
 */
const OLDEST_NODE = [22, 16];
const EXIT_CONFIG = 78;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0]! || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]!)) {
  process.stderr.write(
    `Sallyport needs Node ${OLDEST_NODE.join('.')} or newer, best Node 24. This is Node ${process.versions.node}.\n`,
  );
  process.exit(EXIT_CONFIG);
}
keepCompiledCode();
await import('./run.ts');

/**
 * A command starts in two thirds of the time. In a folder of the user's own: in a shared one, such as the default below /tmp, another
 * user could put code that this one runs. Without a home it does without.
 */
function keepCompiledCode(): void {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sallyport', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    module.enableCompileCache(folder);
  } catch {
    // It only makes the start faster.
  }
}
