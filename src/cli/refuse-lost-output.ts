import { fstatSync, statSync } from 'node:fs';
import { unavailable } from './command-failure.ts';

const NULL_DEVICE = '/dev/null';

/**
 * For a command whose output must not be lost, such as a secret that is shown only once: throws if standard output leads nowhere. Node opens
 * /dev/null in place of a closed output, so the two cannot be told apart. `what` starts the sentence of the error.
 */
export function refuseLostOutput(what: string, fix: string): void {
  const output = fstatSync(process.stdout.fd);
  const nowhere = statSync(NULL_DEVICE, { throwIfNoEntry: false });
  if (nowhere === undefined || !output.isCharacterDevice() || output.rdev !== nowhere.rdev) return;
  throw unavailable(`${what} would be lost: standard output is closed or leads to ${NULL_DEVICE}.`, fix);
}
