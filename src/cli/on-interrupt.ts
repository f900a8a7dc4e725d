import { EXIT } from './exit-codes.ts';

/** Resolves with the first Ctrl-C; a second one ends the process at once. */
export function onInterrupt(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => {
      process.once('SIGINT', () => process.exit(EXIT.interrupted));
      resolve('interrupted');
    });
  });
}
