import type { NestedCallOptions, PlatformProxy, ToolContext, ToolLog } from '../../modules/authoring/tool-context.ts';
import { ToolFailure } from '../../modules/authoring/tool-failure.ts';
import { NO_WRITE_BACKS, type WriteBacks } from '../../domain/outcome/content.ts';
import { splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import type { GivenInput } from '../../domain/call/input.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { LIMITS } from '../../domain/call/call.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ServiceRequest } from '../../domain/ports/service-access.ts';
import type {
  NestedCallRequest,
  PlatformReply,
  PlatformRequest,
  Progress,
  RunEnding,
  RunRequest,
  SecretAnswer,
} from '../../domain/ports/tool-runner.ts';
import { openPlatform } from './call-platform.ts';
import { capLog, saneLogLine } from './cap-log.ts';
import { noticeOf } from './notice.ts';
import { WriteBackCollector } from './collect-write-backs.ts';
import { copyJson } from './copy-json.ts';
import { limitProgress, type ProgressLimiter } from './limit-progress.ts';
import { makePlain, SizeBudget } from './make-plain.ts';
import { openServiceHandles } from './open-service-handles.ts';
import { inputOf } from './request-input.ts';

/** The facts that a run gets. They are sent to a tool's process as they are. */
export interface RunFacts extends Pick<
  RunRequest,
  'callId' | 'fence' | 'identity' | 'untrusted' | 'arguments' | 'setup' | 'timeoutMs' | 'trace'
> {
  readonly toolId: ToolId;
  readonly maxResultBytes: number;
  /**
   * What the run does with the tool's schema. Absent: it parses the arguments, which must stay the same, and runs the tool. `normalise`: it
   * only parses them, and returns the result. `parsed`: they were parsed before, so it only runs the tool.
   */
  readonly step?: 'normalise' | 'parsed';
  /** Present if the caller sent any input. */
  readonly input?: GivenInput;
  /** Maps each service to the names of its methods. */
  readonly services?: Readonly<Record<string, readonly string[]>>;
}

/** The functions of the worker that a run can call. */
export interface RunHost extends Pick<RunRequest, 'onProgress' | 'onLog'> {
  onNestedCall(request: NestedCallRequest): Promise<Outcome>;
  onSecret(name: string): Promise<SecretAnswer>;
  onServiceCall(request: ServiceRequest): Promise<JsonValue>;
  onPlatform?(request: PlatformRequest): Promise<PlatformReply>;
  /** May be created when it is first read: most tools never use it. */
  readonly signal: AbortSignal;
  /** Throws if the run was aborted, without creating a signal. */
  throwIfAborted(): void;
  /** Returns the ending if the tool may no longer be started; undefined if it may. See `StartCheck`. */
  stopFor?(): MaybePromise<RunEnding | undefined>;
}

const NO_SERVICES: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * The `ctx` of one call. Almost all properties are own properties, so that a tool can destructure and spread it (`input`, `requestInput`
 * and `notify` are not). A context is created for every call, so what most tools never use is created on first access.
 */
export class CallContext implements ToolContext<unknown> {
  readonly identity: ToolContext['identity'];
  readonly untrusted: JsonObject;
  readonly setup: unknown;
  readonly callId: ToolContext['callId'];
  readonly fence: number;
  readonly trace: ToolContext['trace'];
  declare readonly signal: AbortSignal;
  readonly services: Readonly<Record<string, unknown>>;
  readonly timeLeftMs: ToolContext['timeLeftMs'];
  readonly progress: ToolContext['progress'];
  declare readonly log: ToolLog;
  declare readonly platform: PlatformProxy;
  readonly call: ToolContext['call'];
  readonly secrets: ToolContext['secrets'];
  readonly sendFile: ToolContext['sendFile'];
  readonly sendMessage: ToolContext['sendMessage'];
  readonly offerTool: ToolContext['offerTool'];
  readonly cost: ToolContext['cost'];

  readonly #facts: RunFacts;
  readonly #host: RunHost;
  #open = true;
  #progress: ProgressLimiter | undefined;
  #log: ToolLog | undefined;
  #platform: PlatformProxy | undefined;
  #writeBacks: WriteBackCollector | undefined;

  constructor(facts: RunFacts, setup: unknown, host: RunHost) {
    this.#facts = facts;
    this.#host = host;
    const endsAt = performance.now() + facts.timeoutMs;
    this.identity = facts.identity;
    this.untrusted = copyJson(facts.untrusted) as JsonObject;
    this.setup = setup;
    this.services = facts.services === undefined ? NO_SERVICES : this.#openServices(facts.services);
    this.callId = facts.callId;
    this.fence = facts.fence;
    // Frozen again: in a tool's process the trace was decoded from bytes, so it is a new object.
    this.trace = facts.trace === undefined ? undefined : Object.freeze(facts.trace);
    this.timeLeftMs = () => Math.max(0, Math.round(endsAt - performance.now()));
    this.progress = (report) => this.#report(report);
    this.call = (tool, args, options) => this.#call(tool, args, options);
    this.secrets = { get: (name) => this.#secret(name) };
    this.sendFile = (file) => this.#collector().sendFile(file);
    this.sendMessage = (message) => this.#collector().sendMessage(message);
    this.offerTool = (offer) => this.#collector().offerTool(offer);
    this.cost = (amount) => this.#collector().addCost(amount);
    // All contexts share these accessors: creating them for each context would cost more than all the rest.
    Object.defineProperty(this, 'signal', CallContext.#SIGNAL);
    Object.defineProperty(this, 'log', CallContext.#LOG);
    Object.defineProperty(this, 'platform', CallContext.#PLATFORM);
    Object.freeze(this);
  }

  static readonly #SIGNAL = accessor(function (this: CallContext) {
    return this.#host.signal;
  });
  static readonly #LOG = accessor(function (this: CallContext) {
    return (this.#log ??= openLog(this.#host, () => this.#open));
  });
  static readonly #PLATFORM = accessor(function (this: CallContext) {
    return (this.#platform ??= openPlatform(this.#host, this.#facts.maxResultBytes, () => this.#mustBeOpen()));
  });

  #openServices(offered: NonNullable<RunFacts['services']>): Readonly<Record<string, unknown>> {
    return openServiceHandles(offered, async (request) => {
      this.#mustBeOpen();
      this.#host.throwIfAborted();
      return this.#host.onServiceCall(request);
    });
  }

  /*
   * These getters are on the prototype, unlike the rest: few tools use them, and an own property would cost every call. They can be
   * destructured from the context by name, but a spread copy does not have them.
   */
  get input(): ToolContext['input'] {
    return this.#facts.input === undefined ? undefined : inputOf(this.#facts).shown;
  }

  get requestInput(): ToolContext['requestInput'] {
    return (requests, options) => {
      this.#mustBeOpen();
      return inputOf(this.#facts).request(requests, options) as never;
    };
  }

  get notify(): ToolContext['notify'] {
    return (level, data) => {
      if (this.#open) noticeOf(this.#facts, this.#host)(level, data);
    };
  }

  #report(report: Progress): void {
    if (!this.#open) return;
    this.#progress ??= limitProgress((progress) => this.#host.onProgress(progress));
    this.#progress.report(report);
  }

  async #call(tool: string, args: JsonObject, options: NestedCallOptions = {}): Promise<Outcome> {
    this.#mustBeOpen();
    this.#host.throwIfAborted();
    return this.#host.onNestedCall(nestedRequest(tool, args, options));
  }

  async #secret(name: string): Promise<string> {
    this.#mustBeOpen();
    if (typeof name !== 'string') throw new TypeError('ctx.secrets.get: the name must be a text');
    const answer = await this.#host.onSecret(name);
    if (answer.kind === 'value') return answer.value;
    const { code, message } = answer.outcome.error ?? { message: 'It may not be used.' };
    throw new ToolFailure(message, code === undefined ? {} : { code });
  }

  #collector(): WriteBackCollector {
    this.#mustBeOpen();
    return (this.#writeBacks ??= new WriteBackCollector(this.#facts.maxResultBytes));
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new Error('This call has ended.');
  }

  /**
   * Closes the context and returns what the tool handed over so far. Code that the tool left running must not act for a call that has
   * ended. Static, not a method, because the tool holds the context.
   */
  static close(context: CallContext): WriteBacks {
    context.#open = false;
    context.#progress?.close();
    return context.#writeBacks?.take() ?? NO_WRITE_BACKS;
  }
}

function accessor(get: (this: CallContext) => unknown): PropertyDescriptor {
  return { get: get as () => unknown, enumerable: true };
}

function openLog(host: RunHost, isOpen: () => boolean): ToolLog {
  const log = capLog((line) => host.onLog(line));
  const write = (level: keyof ToolLog) => (message: string, data?: Record<string, unknown>) => {
    if (isOpen()) log(saneLogLine(level, message, data));
  };
  return Object.freeze({ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') });
}

/**
 * Checks a nested call that a tool makes, or that a tool's process sends. Throws TypeError: a wrong tool id is a mistake of the tool
 * author, not of the model.
 */
export function nestedRequest(tool: unknown, args: unknown, options: unknown): NestedCallRequest {
  if (typeof tool !== 'string' || splitToolId(tool) === undefined)
    throw new TypeError('ctx.call: the tool must be "module.tool"');
  const plain = makePlain(args ?? {}, new SizeBudget(LIMITS.argumentsBytes), 'arguments');
  if (!isJsonObject(plain)) throw new TypeError('ctx.call: the arguments must be an object');
  const { key, deadlineMs, input } = (options ?? {}) as { key?: unknown; deadlineMs?: unknown; input?: unknown };
  const answers = input === undefined ? undefined : makePlain(input, new SizeBudget(LIMITS.inputBytes), 'input');
  if (answers !== undefined && !isJsonObject(answers)) throw new TypeError('ctx.call: the input must be an object');
  if (key !== undefined && typeof key !== 'string') throw new TypeError('ctx.call: the key must be a text');
  if (deadlineMs !== undefined && !(typeof deadlineMs === 'number' && deadlineMs > 0)) {
    throw new TypeError('ctx.call: deadlineMs must be a positive number');
  }
  return {
    tool: tool as ToolId,
    arguments: plain as JsonObject,
    ...(key === undefined ? {} : { key }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    // Not checked here: `prepareCall` checks the input.
    ...(answers === undefined ? {} : { input: answers as GivenInput }),
  };
}
