import { wellFormed } from '../../base/well-formed.ts';
import type { Progress } from '../../domain/ports/tool-runner.ts';

const PROGRESS_EVERY_MS = 100;
const MAX_MESSAGE = 500;

export interface ProgressLimiter {
  report(progress: unknown): void;
  /** Drops the report that was held back; later reports are ignored. */
  close(): void;
}

/** Delivers the first report at once, then the latest one every 100 ms. Reports are sanitised on the way. */
export function limitProgress(deliver: (progress: Progress) => void): ProgressLimiter {
  let waiting: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const afterPause = (): void => {
    timer = undefined;
    const next = waiting;
    waiting = undefined;
    if (next !== undefined) send(next);
  };
  const send = (progress: Progress): void => {
    timer = setTimeout(afterPause, PROGRESS_EVERY_MS).unref();
    deliver(progress);
  };

  return {
    report: (progress) => {
      const sane = closed ? undefined : saneProgress(progress);
      if (sane === undefined) return;
      if (timer === undefined) send(sane);
      else waiting = sane;
    },
    close: () => {
      closed = true;
      waiting = undefined;
      clearTimeout(timer);
    },
  };
}

/** Limits progress to finite, non-negative numbers with done ≤ total. Undefined if nothing usable is left. @internal */
export function saneProgress(progress: unknown): Progress | undefined {
  try {
    if (typeof progress !== 'object' || progress === null) return undefined;
    const { done, total, message } = progress as { done?: unknown; total?: unknown; message?: unknown };
    const max = saneNumber(total);
    const reached = saneNumber(done);
    const sane: Progress = {
      ...(reached === undefined ? {} : { done: max === undefined ? reached : Math.min(reached, max) }),
      ...(max === undefined ? {} : { total: max }),
      ...(typeof message === 'string' ? { message: wellFormed(message.slice(0, MAX_MESSAGE)) } : {}),
    };
    return Object.keys(sane).length === 0 ? undefined : sane;
  } catch {
    return undefined;
  }
}

function saneNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined;
}
