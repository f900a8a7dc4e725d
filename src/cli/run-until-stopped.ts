import { unavailable } from './command-failure.ts';
import { describeFailure } from './describe-failure.ts';
import type { Log } from '../ports/log.ts';

interface Stoppable {
  /** What it is called in the line that it ends with. */
  readonly name: 'worker' | 'gateway' | 'plane';
  drain(): Promise<void>;
  /** Rejects when it cannot go on. */
  readonly failed: Promise<never>;
}

/** npm and npx pass on a Ctrl-C that the terminal has sent us already. */
const SAME_PRESS_MS = 300;
/** A process that cannot go on gets a moment to leave in order. */
const FAILED_DRAIN_MS = 3000;

/** Runs until the first SIGINT or SIGTERM, then drains. A second one ends at once. Throws when it fails. */
export async function runUntilStopped(
  running: Stoppable,
  log: Pick<Log, 'error'>,
  onDrain: (signal: NodeJS.Signals) => void,
): Promise<void> {
  // A promise some tool forgot must not take the worker and its neighbours down; Node would end the process.
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
          // As if we had never listened: a tidy exit would wait for threads that may be in the middle of something.
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
    const patience = new Promise<void>((resolve) => setTimeout(resolve, FAILED_DRAIN_MS).unref());
    await Promise.race([running.drain().catch(() => undefined), patience]);
    throw unavailable(`The ${running.name} cannot go on: ${message}`, fix, error);
  }
  await running.drain();
}
