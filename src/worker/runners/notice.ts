import type { JsonValue } from '../../base/json.ts';
import type { ToolLogLine } from '../../domain/ports/tool-runner.ts';
import { makePlain, SizeBudget } from './make-plain.ts';

const MAX_NOTICES = 200;
const MAX_NOTICE_BYTES = 16 * 1024;
const MAX_BYTES = 256 * 1024;
const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'];

type SendNotice = (level: unknown, data: unknown) => void;

/**
 * Limits the notices of one call by number and by bytes; what exceeds the limit is dropped. Data that cannot be sent is replaced by a
 * description of the problem.
 */
function limitNotices(deliver: (line: ToolLogLine) => void): SendNotice {
  let left = MAX_NOTICES;
  let leftBytes = MAX_BYTES;
  return (level, data) => {
    if (left <= 0 || leftBytes <= 0) return;
    left -= 1;
    const value = plainNotice(data);
    leftBytes -= JSON.stringify(value).length;
    if (leftBytes <= 0) return;
    const known = LEVELS.includes(level) ? (level as ToolLogLine['level']) : 'info';
    deliver({ level: known, message: '', notice: { value } });
  };
}

function plainNotice(data: unknown): JsonValue {
  try {
    return makePlain(data ?? null, new SizeBudget(MAX_NOTICE_BYTES), 'data');
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'the data cannot be read' };
  }
}

/** One limiter per run, keyed by the run's facts and released with them. It is no field of the facts, because most runs send no notices. */
const senders = new WeakMap<object, SendNotice>();

export function noticeOf(run: object, host: { onLog(line: ToolLogLine): void }): SendNotice {
  let send = senders.get(run);
  if (send === undefined) senders.set(run, (send = limitNotices((line) => host.onLog(line))));
  return send;
}
