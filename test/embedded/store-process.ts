import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Starts an owner whose files the system limits to this size. */
export async function startOwnerWithSmallFiles(folder: string, maxKib: number): Promise<WatchedProcess> {
  const command = `trap '' XFSZ; ulimit -f ${maxKib}; exec "$0" "$@"`;
  const owner = await startProgram('bash', ['-c', command, process.execPath, SCRIPT, folder, 'own'], {
    env: runtimeIn(folder),
  });
  await owner.waitForLine(/^open as owner$/);
  return owner;
}

/** Whether this user may mount a file system that only its own process sees. */
export function canMount(): boolean {
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;
}

/**
 * Starts an owner on a small disk in memory, which only that process sees and which disappears with it. Other processes reach its files
 * under `files`. The folder of the owner's socket is not on that disk.
 */
export async function startOwnerOnSmallDisk(
  folder: string,
  sizeMib: number,
): Promise<{ owner: WatchedProcess; files: string }> {
  const disk = join(folder, 'disk');
  const env = runtimeIn(folder);
  mkdirSync(disk);
  const command = `mount -t tmpfs -o size=${sizeMib}m tmpfs "$1" && exec "$2" "$3" "$1/store" own`;
  const shell = ['--mount', 'bash', '-c', command, 'bash', disk, process.execPath, SCRIPT];
  const owner = await startProgram('unshare', shell, { env });
  await owner.waitForLine(/^open as owner$/);
  return { owner, files: `/proc/${owner.pid}/root${disk}` };
}

/** Waits for one message of that kind. */
export function messageOf(program: WatchedProcess, kind: string): Promise<void> {
  return new Promise((resolve) => {
    program.onMessage((message) => {
      if ((message as { kind?: unknown }).kind === kind) resolve();
    });
  });
}
