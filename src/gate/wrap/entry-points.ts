import { isJsonObject } from '../../domain/json.ts';
import type { StopSignal } from '../../ports/tool-runner.ts';

/** Where the code of a tool object is entered, and how its parameters are read. */
export interface EntryPoint {
  /** From the tool to the function: `['execute']`, `['function', 'function']`. */
  readonly path: readonly string[];
  readonly enter: EntryFunction;
  /** The object it belongs to: what its code sees as `this`. */
  readonly holder: object;
  readonly reads: ParameterOrder;
}

export type EntryFunction = (this: unknown, ...given: unknown[]) => unknown;

/**
 * `input-first`: `(input, { toolCallId, abortSignal })` as in the AI SDK, `(input, ctx)` of this package, `(input, runner)` of OpenAI.
 * `call-id-first`: `(toolCallId, input, signal, onUpdate)`.
 */
export type ParameterOrder = 'input-first' | 'call-id-first';

/** Every way into a tool that is known; one that was left out would be open. */
const PATHS: readonly (readonly string[])[] = [['execute'], ['run'], ['$callback'], ['function', 'function']];

export function findEntryPoints(tool: object, reads: ParameterOrder): EntryPoint[] {
  return PATHS.flatMap((path) => {
    const holder = path.length === 1 ? tool : (tool as Record<string, unknown>)[path[0]!];
    if (typeof holder !== 'object' || holder === null) return [];
    const enter = (holder as Record<string, unknown>)[path.at(-1)!];
    return typeof enter === 'function' ? [{ path, enter: enter as EntryFunction, holder, reads }] : [];
  });
}

/** What a call brings beside its input. */
export interface ReadCall {
  readonly input: unknown;
  readonly callId: string | undefined;
  readonly signal: StopSignal | undefined;
}

export function readCall(reads: ParameterOrder, given: readonly unknown[]): ReadCall {
  if (reads === 'call-id-first') {
    const [callId, input, signal] = given;
    return { input, callId: textOf(callId), signal: signalOf(signal) };
  }
  const [input, beside] = given;
  const { toolCallId, callId, toolUse, abortSignal, signal, controller } = membersOf(beside);
  return {
    input,
    callId: textOf(toolCallId) ?? textOf(callId) ?? textOf(membersOf(toolUse)['id']),
    signal: signalOf(abortSignal) ?? signalOf(signal) ?? signalOf(membersOf(controller)['signal']),
  };
}

/** The same parameters with another input; everything else, callbacks and signals among it, is handed on as it is. */
export function withInput(reads: ParameterOrder, given: readonly unknown[], input: unknown): unknown[] {
  const [first, , ...rest] = given;
  return reads === 'call-id-first' ? [first, input, ...rest] : [input, ...given.slice(1)];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined;
}

function signalOf(value: unknown): StopSignal | undefined {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
    ? (value as StopSignal)
    : undefined;
}
