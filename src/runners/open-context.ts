import type { ToolContext, ToolLog } from '../authoring/tool-context.ts';
import { splitToolId, type ToolId } from '../domain/ids.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { LIMITS } from '../domain/call.ts';
import type { NestedCallRequest, RunRequest } from '../ports/tool-runner.ts';
import { capLog, saneLogLine } from './cap-log.ts';
import { WriteBackCollector } from './collect-write-backs.ts';
import { copyJson } from './copy-json.ts';
import { limitProgress } from './limit-progress.ts';
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
export type RunHost = Pick<RunRequest, 'signal' | 'onProgress' | 'onLog' | 'onNestedCall'>;

export interface OpenContext {
  readonly context: ToolContext<unknown>;
  readonly writeBacks: WriteBackCollector;
  /** Code the tool left behind must not speak for a call that has ended. */
  readonly close: () => void;
}

export function openContext(facts: RunFacts, setup: unknown, host: RunHost): OpenContext {
  const endsAt = performance.now() + facts.timeoutMs;
  const writeBacks = new WriteBackCollector(facts.maxResultBytes);
  const progress = limitProgress(host.onProgress);
  const log = capLog(host.onLog);
  let open = true;
  const mustBeOpen = (): void => {
    if (!open) throw new Error('This call has ended.');
  };
  const write = (level: keyof ToolLog) => (message: string, data?: Record<string, unknown>) => {
    if (open) log(saneLogLine(level, message, data));
  };

  const context: ToolContext<unknown> = {
    identity: Object.freeze({ ...facts.identity }),
    untrusted: copyJson(facts.untrusted),
    setup,
    callId: facts.callId,
    fence: facts.fence,
    signal: host.signal,
    timeLeftMs: () => Math.max(0, Math.round(endsAt - performance.now())),
    progress: (report) => progress.report(report),
    log: Object.freeze({ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }),
    call: async (tool, args, options = {}) => {
      mustBeOpen();
      host.signal.throwIfAborted();
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
      progress.close();
    },
  };
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
