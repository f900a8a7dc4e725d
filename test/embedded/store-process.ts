import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { spawnNode } from '../support/process.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';

const SCRIPT = fileURLToPath(new URL('./store-process.mjs', import.meta.url));

/** A killed owner leaves its socket behind; here it goes with the test's folder. */
function runtimeIn(folder: string): { XDG_RUNTIME_DIR: string } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { XDG_RUNTIME_DIR: folder };
}

/** Another process that owns the store. Resolves when it serves. */
export async function startOwner(folder: string): Promise<WatchedProcess> {
  const owner = await spawnNode(SCRIPT, [folder, 'own'], { ipc: true, env: runtimeIn(folder) });
  await owner.waitForLine(/^open as owner$/);
  return owner;
}

/** The same, but the system refuses to make any of its files larger than this. */
export async function startOwnerWithSmallFiles(folder: string, maxKib: number): Promise<WatchedProcess> {
  const command = `trap '' XFSZ; ulimit -f ${maxKib}; exec "$0" "$@"`;
  const owner = await startProgram('bash', ['-c', command, process.execPath, SCRIPT, folder, 'own'], {
    env: runtimeIn(folder),
  });
  await owner.waitForLine(/^open as owner$/);
  return owner;
}

/** Waits for one message of that kind. */
export function messageOf(program: WatchedProcess, kind: string): Promise<void> {
  return new Promise((resolve) => {
    program.onMessage((message) => {
      if ((message as { kind?: unknown }).kind === kind) resolve();
    });
  });
}
