import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Writable } from 'node:stream';

/** Something a test opened that must not outlive the test process. */
export type Leakable = { readonly pid: number; readonly what: string } | { readonly folder: string };

let reaperInput: Writable | undefined;
const unreleased = new Set<Leakable>();

/**
 * Has `leakable` killed (a process) or deleted (a folder) once this test process is gone, even by SIGKILL.
 * Returns the function that calls it off; call it when the process has exited or the folder is removed.
 */
export function reapAfterExit(leakable: Leakable): () => void {
  reaperInput ??= startReaper();
  unreleased.add(leakable);
  tell('watch', leakable);
  return () => {
    if (unreleased.delete(leakable)) tell('release', leakable);
  };
}

/** For `afterEach` or `afterAll`: throws when a process still runs or a folder still exists that this file opened. */
export function failOnLeaks(): void {
  if (unreleased.size === 0) return;
  const list = [...unreleased].map((leakable) =>
    'pid' in leakable ? `process ${leakable.pid}: ${leakable.what}` : `folder ${leakable.folder}`,
  );
  throw new Error(`Left open by this test file:\n${list.join('\n')}`);
}

function tell(verb: 'watch' | 'release', leakable: Leakable): void {
  reaperInput?.write(`${JSON.stringify({ verb, ...leakable })}\n`);
}

function startReaper(): Writable {
  // Detached: Ctrl-C reaches the whole process group, and the reaper has to survive it to do its work.
  const child = spawn(process.execPath, [fileURLToPath(new URL('./reaper-process.mjs', import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const input = child.stdin;
  // Without this the open pipe would keep the test process alive for ever.
  (input as Writable & { unref?: () => void }).unref?.();
  // A write may meet a reaper that is going away together with this process; there is nobody left to tell.
  input.on('error', () => {});
  return input;
}
