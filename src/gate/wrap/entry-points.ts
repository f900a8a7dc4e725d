import { isJsonObject } from '../../base/json.ts';
import type { StopSignal } from '../../domain/ports/tool-runner.ts';

/** A function through which a tool object's code is called, and how its parameters are read. */
export interface EntryPoint {
  /** The path from the tool to the function: `['execute']`, `['function', 'function']`. */
  readonly path: readonly string[];
  readonly enter: EntryFunction;
  /** The object that the function belongs to: its code sees it as `this`. */
  readonly holder: object;
  readonly reads: ParameterOrder;
  /**
   * The framework passes the return value of this function to the model, and ends the whole run if the function throws. So a refusal is
   * returned as text.
   */
  readonly returnsErrors: boolean;
}

export type EntryFunction = (this: unknown, ...given: unknown[]) => unknown;

export const PARAMETER_ORDERS = ['input-first', 'call-id-first', 'context-first'] as const;
/**
 * `input-first`: `(input, { toolCallId, abortSignal })` as in the AI SDK, `(input, ctx)` of this package, `(input, runner)` of OpenAI,
 * `(input, runManager, config)` of LangChain.
 * `call-id-first`: `(toolCallId, input, signal, onUpdate)`.
 * `context-first`: `(context, input, details)`, as `invoke` of the OpenAI Agents SDK.
 */
export type ParameterOrder = (typeof PARAMETER_ORDERS)[number];

/** The paths to all functions that run a tool. A missing path would bypass the gate. `_call` and `func` are LangChain's. */
const PATHS: readonly (readonly string[])[] = [
  ['execute'],
  ['run'],
  ['$callback'],
  ['function', 'function'],
  ['_call'],
  ['func'],
];

export function findEntryPoints(tool: object, reads: ParameterOrder): EntryPoint[] {
  const known = PATHS.flatMap((path) => entryAt(tool, path, reads, false));
  return isAgentsTool(tool) ? [...known, ...entryAt(tool, ['invoke'], 'context-first', true)] : known;
}

/** Whether `tool()` of the OpenAI Agents SDK made this tool. LangChain's `invoke` takes other parameters and leads to `_call`. */
function isAgentsTool(tool: object): boolean {
  return (tool as { type?: unknown }).type === 'function' && Object.hasOwn(tool, 'invoke');
}

function entryAt(tool: object, path: readonly string[], reads: ParameterOrder, returnsErrors: boolean): EntryPoint[] {
  const holder = path.length === 1 ? tool : (tool as Record<string, unknown>)[path[0]!];
  if (typeof holder !== 'object' || holder === null) return [];
  const enter = (holder as Record<string, unknown>)[path.at(-1)!];
  return typeof enter === 'function' ? [{ path, enter: enter as EntryFunction, holder, reads, returnsErrors }] : [];
}

/** The input of a call, and the call id and stop signal that came with it. */
export interface ReadCall {
  readonly input: unknown;
  readonly callId: string | undefined;
  readonly signal: StopSignal | undefined;
}

/** Reads the parameters of a call. Never throws: parameters besides the input that cannot be read are ignored. */
export function readCall(reads: ParameterOrder, given: readonly unknown[]): ReadCall {
  if (reads === 'call-id-first') {
    const [callId, input, signal] = given;
    return { input, callId: textOf(callId), signal: signalOf(signal) };
  }
  const [first, second, third] = given;
  const beside = reads === 'context-first' ? [third] : [second, third];
  return {
    input: reads === 'context-first' ? second : first,
    callId: findIn(beside, CALL_IDS, textOf),
    signal: findIn(beside, SIGNALS, signalOf),
  };
}

const CALL_IDS = [['toolCallId'], ['callId'], ['toolUse', 'id'], ['toolCall', 'callId'], ['toolCall', 'id']];
const SIGNALS = [['abortSignal'], ['signal'], ['controller', 'signal']];

function findIn<Found>(
  holders: readonly unknown[],
  paths: readonly (readonly string[])[],
  read: (value: unknown) => Found | undefined,
): Found | undefined {
  for (const holder of holders) {
    for (const path of paths) {
      const found = read(memberAt(holder, path));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function memberAt(holder: unknown, path: readonly string[]): unknown {
  try {
    return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), holder);
  } catch {
    return undefined;
  }
}

/** The same parameters with another input. Everything else, such as callbacks and signals, is passed on unchanged. */
export function withInput(reads: ParameterOrder, given: readonly unknown[], input: unknown): unknown[] {
  const [first, , ...rest] = given;
  return reads === 'input-first' ? [input, ...given.slice(1)] : [first, input, ...rest];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined;
}

function signalOf(value: unknown): StopSignal | undefined {
  try {
    return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
      ? (value as StopSignal)
      : undefined;
  } catch {
    return undefined;
  }
}
