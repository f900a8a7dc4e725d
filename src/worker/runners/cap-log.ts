import { printable } from '../../base/clean-text.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ToolLogLine } from '../../domain/ports/tool-runner.ts';
import { makePlain, SizeBudget } from './make-plain.ts';

export const MAX_LOG_BYTES = 256 * 1024;
const MAX_LINE = 4096;
const MAX_DATA_BYTES = 16 * 1024;
const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'];

/** Passes lines on until the call has used up its limit, and then logs once that the log is cut. */
export function capLog(deliver: (line: ToolLogLine) => void, maxBytes = MAX_LOG_BYTES): (line: ToolLogLine) => void {
  let left = maxBytes;
  return (line) => {
    if (left <= 0) return;
    left -= line.message.length + (line.data === undefined ? 0 : JSON.stringify(line.data).length) + 1;
    deliver(left > 0 ? line : { level: 'warn', message: `The log of this call is cut here (${maxBytes} bytes).` });
  };
}

/** Makes a log line from any value that a tool, or its process, passed as one. */
export function saneLogLine(level: unknown, message: unknown, data?: unknown): ToolLogLine {
  const plainData = data === undefined ? undefined : saneData(data);
  return {
    level: LEVELS.includes(level) ? (level as ToolLogLine['level']) : 'info',
    message: toLogText(typeof message === 'string' ? message : `(${typeof message})`),
    ...(plainData === undefined ? {} : { data: plainData }),
  };
}

export function toLogText(text: string): string {
  return printable(text.slice(0, MAX_LINE));
}

function saneData(data: unknown): JsonObject {
  try {
    const plain = makePlain(data, new SizeBudget(MAX_DATA_BYTES), 'data');
    return isJsonObject(plain) ? plain : { value: plain };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'the data cannot be read' };
  }
}
