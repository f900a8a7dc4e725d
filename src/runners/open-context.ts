import type { ToolContext, ToolLog } from '../authoring/tool-context.ts';
import { splitToolId, type ToolId } from '../domain/ids.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { LIMITS } from '../domain/call.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { NestedCallRequest, RunRequest } from '../ports/tool-runner.ts';
import { capLog, saneLogLine } from './cap-log.ts';
import { WriteBackCollector } from './collect-write-backs.ts';
import { copyJson } from './copy-json.ts';
import { limitProgress, type ProgressLimiter } from './limit-progress.ts';
import { makePlain, SizeBudget } from './make-plain.ts';

/** What a run is told; crosses into a tool's process as it is. */
export interface RunFacts extends Pick<
  RunRequest,
  'callId' | 'fence' | 'identity' | 'untrusted' | 'arguments' | 'setup' | 'timeoutMs'
> {
  readonly toolId: ToolId;
  readonly maxResultBytes: number;
}

/** What a run can reach. */
export interface RunHost extends Pick<RunRequest, 'onProgress' | 'onLog'> {
  onNestedCall(request: NestedCallRequest): Promise<Outcome>;
  /** May be made when it is first read: most tools never look at it. */
  readonly signal: AbortSignal;
  /** The same question without making a signal. */
  throwIfAborted(): void;
}

export interface OpenContext {
  readonly context: ToolContext<unknown>;
  readonly writeBacks: WriteBackCollector;
  /** Code the tool left behind must not speak for a call that has ended. */
  readonly close: () => void;
}

/** What most tools never touch is made when it is first read: a context is opened for every call. */
export function openContext(facts: RunFacts, setup: unknown, host: RunHost): OpenContext {
  const endsAt = performance.now() + facts.timeoutMs;
  const writeBacks = new WriteBackCollector(facts.maxResultBytes);
  let progress: ProgressLimiter | undefined;
  let log: ToolLog | undefined;
  let untrusted: JsonObject | undefined;
  let open = true;
  const mustBeOpen = (): void => {
    if (!open) throw new Error('This call has ended.');
  };

  const context: ToolContext<unknown> = {
    identity: facts.identity,
    get untrusted() {
      return (untrusted ??= copyJson(facts.untrusted) as JsonObject);
    },
    setup,
    callId: facts.callId,
    fence: facts.fence,
    get signal() {
      return host.signal;
    },
    timeLeftMs: () => Math.max(0, Math.round(endsAt - performance.now())),
    progress: (report) => {
      if (!open) return;
      progress ??= limitProgress(host.onProgress);
      progress.report(report);
    },
    get log() {
      return (log ??= openLog(host, () => open));
    },
    call: async (tool, args, options = {}) => {
      mustBeOpen();
      host.throwIfAborted();
      return host.onNestedCall(nestedRequest(tool, args, options));
    },
    sendFile: (file) => (mustBeOpen(), writeBacks.sendFile(file)),
    sendMessage: (message) => (mustBeOpen(), writeBacks.sendMessage(message)),
    offerTool: (offer) => (mustBeOpen(), writeBacks.offerTool(offer)),
  };
  return {
    context: Object.freeze(context),
    writeBacks,
    close: () => {
      open = false;
      progress?.close();
    },
  };
}

function openLog(host: RunHost, isOpen: () => boolean): ToolLog {
  const log = capLog(host.onLog);
  const write = (level: keyof ToolLog) => (message: string, data?: Record<string, unknown>) => {
    if (isOpen()) log(saneLogLine(level, message, data));
  };
  return Object.freeze({ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') });
}

/** Throws TypeError: a wrong tool id is the author's mistake, not the model's. Also used on what a process sends. */
export function nestedRequest(tool: unknown, args: unknown, options: unknown): NestedCallRequest {
  if (typeof tool !== 'string' || splitToolId(tool) === undefined)
    throw new TypeError('ctx.call: the tool must be "module.tool"');
  const plain = makePlain(args ?? {}, new SizeBudget(LIMITS.argumentsBytes), 'arguments');
  if (!isJsonObject(plain)) throw new TypeError('ctx.call: the arguments must be an object');
  const { key, deadlineMs } = (options ?? {}) as { key?: unknown; deadlineMs?: unknown };
  if (key !== undefined && typeof key !== 'string') throw new TypeError('ctx.call: the key must be a text');
  if (deadlineMs !== undefined && !(typeof deadlineMs === 'number' && deadlineMs > 0)) {
    throw new TypeError('ctx.call: deadlineMs must be a positive number');
  }
  return {
    tool: tool as ToolId,
    arguments: plain as JsonObject,
    ...(key === undefined ? {} : { key }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}
