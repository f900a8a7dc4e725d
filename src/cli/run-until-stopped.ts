import { unavailable } from './command-failure.ts';
import { describeFailure } from './describe-failure.ts';
import type { Log } from '../domain/ports/log.ts';

interface Stoppable {
  /** The name in the error message when it fails. */
  readonly name: 'worker' | 'gateway' | 'plane';
  drain(): Promise<void>;
  /** Rejects when the worker, gateway or plane cannot continue. */
  readonly failed: Promise<never>;
}

/**
 * npm and npx send a Ctrl-C on to this process, although the terminal has already sent it. A second signal within this time is treated as
 * the same key press.
 */
const SAME_PRESS_MS = 300;
/** Max time that a failed process may take to drain before it ends. */
const FAILED_DRAIN_MS = 3000;

/** Runs until the first SIGINT or SIGTERM, then drains. A second signal ends the process at once. Throws when `running` fails. */
export async function runUntilStopped(
  running: Stoppable,
  log: Pick<Log, 'error'>,
  onDrain: (signal: NodeJS.Signals) => void,
): Promise<void> {
  // Node would end the process on an unhandled rejection. A promise that a tool forgot must not end the worker and its other calls.
  process.on('unhandledRejection', (error) => log.error({ error }, 'a rejection nobody handled, probably in a tool'));
  const throughNpm = process.env['npm_command'] !== undefined;
  let firstAt: number | undefined;
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        firstAt ??= now;
        if (firstAt === now) resolve(signal);
        else if (!throughNpm || now - firstAt > SAME_PRESS_MS) {
          // Let the signal end the process by its default action: an orderly exit would wait for threads that may be busy.
          process.removeAllListeners(signal);
          process.kill(process.pid, signal);
        }
      });
    }
  });
  try {
    onDrain(await Promise.race([stopped, running.failed]));
  } catch (error) {
    const { message, fix } = describeFailure(error);
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, FAILED_DRAIN_MS).unref());
    await Promise.race([running.drain().catch(() => undefined), timeout]);
    throw unavailable(`The ${running.name} cannot go on: ${message}`, fix, error);
  }
  await running.drain();
}
