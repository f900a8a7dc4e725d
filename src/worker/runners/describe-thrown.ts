import { classifyThrown } from '../../domain/outcome/classify-thrown.ts';
import type { Fault } from '../../domain/outcome/error-category.ts';
import { wellFormed } from '../../base/well-formed.ts';
import { startOf } from '../../base/cut-text.ts';

const TYPE_NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const MAX_CAUSE = 8192;
const MAX_CAUSES = 4;

export interface ThrownDescription {
  /** Type of the error; safe to show to the model. */
  readonly type: string;
  /** Stack and causes, only for the operator. */
  readonly cause: string;
  /** The category and HTTP status that can be read from the error itself, for events. */
  readonly fault?: Fault;
}

/** Describes any thrown value: null, text, objects whose getters throw. Never throws itself. */
export function describeThrown(thrown: unknown): ThrownDescription {
  const fault = classifyThrown(thrown);
  const described = { type: typeName(thrown), cause: causeText(thrown) };
  return fault === undefined ? described : { ...described, fault };
}

function typeName(thrown: unknown): string {
  if (thrown === null) return 'null';
  if (typeof thrown !== 'object') return typeof thrown;
  return (
    readName(() => (thrown as { name?: unknown }).name) ??
    readName(() => (thrown as { constructor?: { name?: unknown } }).constructor?.name) ??
    'Error'
  );
}

function readName(read: () => unknown): string | undefined {
  try {
    const name = read();
    return typeof name === 'string' && TYPE_NAME.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

function causeText(thrown: unknown): string {
  const parts: string[] = [];
  let current = thrown;
  for (let level = 0; level < MAX_CAUSES && current !== undefined; level += 1) {
    parts.push(ownText(current));
    current = readCause(current);
  }
  return startOf(wellFormed(parts.join('\ncaused by: ')), MAX_CAUSE);
}

function ownText(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      const { stack, message } = thrown as { stack?: unknown; message?: unknown };
      if (typeof stack === 'string' && stack !== '') return stack;
      if (typeof message === 'string') return message;
      return 'an object without a message';
    }
    return String(thrown);
  } catch {
    return 'something that cannot be read';
  }
}

function readCause(thrown: unknown): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null ? (thrown as { cause?: unknown }).cause : undefined;
  } catch {
    return undefined;
  }
}
