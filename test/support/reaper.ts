import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Writable } from 'node:stream';

/** A resource that a test opened and that must not outlive the test process. */
export type Leakable = { readonly pid: number; readonly what: string } | { readonly folder: string };

let reaperInput: Writable | undefined;
const unreleased = new Set<Leakable>();

/**
 * Has `leakable` killed (a process) or deleted (a folder) once this test process is gone, even by SIGKILL.
 * Returns the function that cancels this; call it when the process has exited or the folder is removed.
 */
export function reapAfterExit(leakable: Leakable): () => void {
  reaperInput ??= startReaper();
  unreleased.add(leakable);
  tell('watch', leakable);
  return () => {
    if (unreleased.delete(leakable)) tell('release', leakable);
  };
}

/** For `afterEach` or `afterAll`: throws if a process that this file started still runs, or a folder that it created still exists. */
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
  // Without this the open pipe would keep the test process alive forever.
  (input as Writable & { unref?: () => void }).unref?.();
  // A write may fail because the reaper is ending together with this process. No process is left to report it to.
  input.on('error', () => {});
  return input;
}
