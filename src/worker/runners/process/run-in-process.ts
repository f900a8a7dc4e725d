import type { Outcome } from '../../../domain/outcome/outcome.ts';
import { LIMITS } from '../../../domain/call/call.ts';
import type { RunEnding, RunRequest, ToolLogLine } from '../../../domain/ports/tool-runner.ts';
import { answerSecret } from '../answer-secret.ts';
import { capLog, MAX_LOG_BYTES, saneLogLine } from '../cap-log.ts';
import { limitProgress } from '../limit-progress.ts';
import { NO_PLATFORM, platformRequest, refusalOf } from '../call-platform.ts';
import { noticeOf } from '../notice.ts';
import { nestedRequest } from '../open-context.ts';
import { serviceRequest } from '../open-service-handles.ts';
import { factsOf } from '../run-tool.ts';
import { endingAfterAbort, type AbortReason } from '../settle-abort.ts';
import type { LoadedCode } from './code-format.ts';
import { FRAME_SLACK_BYTES } from '../../../base/frames.ts';
import { monotonicMs } from '../../../base/monotonic-ms.ts';
import { readEnding } from './read-ending.ts';
import type { ProcessUser, ToolProcess } from './tool-process.ts';

export interface ProcessRunOrder {
  readonly request: RunRequest;
  readonly run: number;
  readonly timeoutMs: number;
  readonly abortGraceMs: number;
  /** Set for a new process if the files no longer have the content that was loaded. */
  readonly code: LoadedCode | undefined;
}

/** `never-entered`: the process was lost before any code of the tool ran, so another process may run it. */
export type ProcessRunEnding = RunEnding | { readonly kind: 'never-entered'; readonly how: string };

/** Far more than a run can send through `ctx`, which limits progress and logs. A process that sends more is malicious and is killed. */
const MAX_FRAMES = 20_000;
const MAX_SIDE_BYTES = 64 * 1024 * 1024;
const MAX_OPEN_NESTED_CALLS = 64;
const MAX_OPEN_EFFECTS = 1000;
const AFTER_KILL_MS = 1000;

export function runInProcess(target: ToolProcess, order: ProcessRunOrder): Promise<ProcessRunEnding> {
  return new Promise((resolve) => new ProcessRun(target, order, resolve).begin());
}

class ProcessRun implements ProcessUser {
  readonly maxFrameBytes: number;
  readonly #target: ToolProcess;
  readonly #order: ProcessRunOrder;
  readonly #resolve: (ending: ProcessRunEnding) => void;
  readonly #log: (line: ToolLogLine) => void;
  readonly #progress;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #onAbort = (): void => this.#stop('aborted');
  #started = false;
  #finished = false;
  #stoppedFor: AbortReason | undefined;
  #askedForStart = false;
  /** The ending of the run if its tool may no longer be started. */
  #notStarted: RunEnding | undefined;
  #frames = 0;
  #sideBytes = 0;
  #openNestedCalls = 0;
  #openEffects = 0;
  /** Aborted when the run ends, so that its nested calls end, too. */
  readonly #ended = new AbortController();

  constructor(target: ToolProcess, order: ProcessRunOrder, resolve: (ending: ProcessRunEnding) => void) {
    const { request } = order;
    this.#target = target;
    this.#order = order;
    this.#resolve = resolve;
    this.maxFrameBytes = Math.max(request.tool.limits.maxResultBytes, LIMITS.argumentsBytes) + FRAME_SLACK_BYTES;
    this.#log = capLog(request.onLog, MAX_LOG_BYTES);
    this.#progress = limitProgress(request.onProgress);
  }

  begin(): void {
    const { request, run, timeoutMs, code } = this.#order;
    const { file, generation, tool } = request.source;
    this.#target.stdout.attach((line) => this.#log(saneLogLine('info', line, { stream: 'stdout' })), MAX_LOG_BYTES);
    this.#target.stderr.attach((line) => this.#log(saneLogLine('warn', line, { stream: 'stderr' })), MAX_LOG_BYTES);
    this.#timers.push(setTimeout(() => this.#stop('timed-out'), timeoutMs));
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#target.attach(this);
    const facts = factsOf(request, timeoutMs);
    const { start } = request;
    this.#target.send({
      type: 'run',
      run,
      file,
      generation,
      tool,
      facts,
      ...(start === undefined ? {} : { startUntil: monotonicMs(start.validUntil) }),
      ...(code === undefined ? {} : { code }),
    });
    if (request.signal.aborted) this.#stop('aborted');
  }

  onMessage(message: Record<string, unknown>, bytes: number): void {
    this.#frames += 1;
    if (message['type'] !== 'ending') this.#sideBytes += bytes;
    if (this.#frames > MAX_FRAMES || this.#sideBytes > MAX_SIDE_BYTES)
      return this.#target.condemn('it flooded its channel');
    // The message is left over from an earlier run, or forged.
    if (message['run'] !== this.#order.run || this.#finished) return;
    switch (message['type']) {
      case 'entered':
        this.#started = true;
        return;
      case 'progress':
        return this.#progress.report(message['progress']);
      case 'log':
        return this.#onLog(message['line']);
      case 'worn':
        return this.#log(
          saneLogLine('error', 'An error nobody handled; this process is not used again.', { cause: message['cause'] }),
        );
      case 'start-wanted':
        return void this.#onStartWanted(message['id']);
      case 'nested-call':
        return void this.#onNestedCall(message['id'], message['request']);
      case 'secret-wanted':
        return void this.#onSecretWanted(message['id'], message['name']);
      case 'service-call':
        return void this.#onServiceCall(message['id'], message['request']);
      case 'platform':
        return void this.#onPlatform(message['id'], message['request']);
      case 'ending':
        return this.#onEnding(message['ending']);
      default:
        this.#target.condemn('protocol: an unknown message');
    }
  }

  onGone(how: string): void {
    if (!this.#started && this.#stoppedFor === undefined) return this.#finish({ kind: 'never-entered', how });
    this.#finishWith({ kind: 'crashed', how });
  }

  /**
   * The process may ask once per run, before it starts the tool. A second question must come from the tool's own code: the process is
   * killed.
   */
  async #onStartWanted(id: unknown): Promise<void> {
    const { request, run } = this.#order;
    if (typeof id !== 'number' || this.#askedForStart) return this.#target.condemn('protocol: an unexpected start');
    this.#askedForStart = true;
    this.#notStarted = await request.start?.stopFor();
    if (!this.#finished) this.#target.send({ type: 'start-answer', run, id, mayStart: this.#notStarted === undefined });
  }

  #onLog(line: unknown): void {
    const { level, message, data, notice } = (
      typeof line === 'object' && line !== null ? line : {}
    ) as Partial<ToolLogLine>;
    if (typeof notice === 'object' && notice !== null)
      return noticeOf(this, this.#order.request)(level, (notice as { value?: unknown }).value);
    this.#log(saneLogLine(level, message, data));
  }

  #onEnding(received: unknown): void {
    const ending = readEnding(received, this.#order.request.tool.limits.maxResultBytes);
    if (ending === undefined) this.#target.condemn('protocol: an unknown ending');
    else this.#finishWith(ending);
  }

  async #onNestedCall(id: unknown, asked: unknown): Promise<void> {
    const { request, run } = this.#order;
    if (typeof id !== 'number') return this.#target.condemn('protocol: a nested call without a number');
    this.#openNestedCalls += 1;
    try {
      if (this.#stoppedFor !== undefined) throw new Error('This call is being stopped.');
      if (this.#openNestedCalls > MAX_OPEN_NESTED_CALLS)
        throw new Error(`Not more than ${MAX_OPEN_NESTED_CALLS} nested calls at a time.`);
      const { tool, arguments: args, ...options } = (asked ?? {}) as Record<string, unknown>;
      const outcome: Outcome = await request.onNestedCall(nestedRequest(tool, args, options), this.#ended.signal);
      if (!this.#finished) this.#target.send({ type: 'nested-answer', run, id, outcome });
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'The nested call failed.';
      if (!this.#finished) this.#target.send({ type: 'nested-refusal', run, id, problem });
    } finally {
      this.#openNestedCalls -= 1;
    }
  }

  async #onSecretWanted(id: unknown, name: unknown): Promise<void> {
    const { request, run } = this.#order;
    if (typeof id !== 'number' || typeof name !== 'string')
      return this.#target.condemn('protocol: a secret without a name');
    const answer = await answerSecret(request, name);
    if (!this.#finished) this.#target.send({ type: 'secret-answer', run, id, answer });
  }

  /** The request is checked like untrusted input: the tool shares its process. */
  async #onServiceCall(id: unknown, asked: unknown): Promise<void> {
    const { request, run } = this.#order;
    if (typeof id !== 'number') return this.#target.condemn('protocol: a service call without a number');
    try {
      if (this.#stoppedFor !== undefined) throw new Error('This call is being stopped.');
      if (request.services === undefined) throw new Error('This tool has no services.');
      const { service, method, args } = (asked ?? {}) as Record<string, unknown>;
      const value = await request.services.call(serviceRequest(service, method, args));
      if (!this.#finished) this.#target.send({ type: 'service-answer', run, id, value });
    } catch (error) {
      const { name, code } = error as { name?: unknown; code?: unknown };
      const said = name === 'ServiceFailure' && typeof code === 'string' ? { code } : {};
      const problem = error instanceof Error ? error.message : 'The request failed.';
      if (!this.#finished) this.#target.send({ type: 'service-refusal', run, id, problem, ...said });
    }
  }

  /** The request from the tool's process is parsed again: its shape is only the tool's claim. */
  async #onPlatform(id: unknown, asked: unknown): Promise<void> {
    const { request, run } = this.#order;
    if (typeof id !== 'number') return this.#target.condemn('protocol: an effect without a number');
    this.#openEffects += 1;
    if (this.#openEffects > MAX_OPEN_EFFECTS) return this.#target.condemn('protocol: too many effects at a time');
    try {
      // Nothing is awaited before this call: effects are numbered in the order in which they are passed on, which must be that of their
      // arrival.
      const reply = await (request.onPlatform?.(
        platformRequest(asked, request.tool.limits.maxResultBytes),
        this.#ended.signal,
      ) ?? NO_PLATFORM);
      if (!this.#finished) this.#target.send({ type: 'platform-answer', run, id, reply });
    } catch (error) {
      if (!this.#finished) this.#target.send({ type: 'platform-answer', run, id, reply: refusalOf(error) });
    } finally {
      this.#openEffects -= 1;
    }
  }

  /** Asks the tool to stop, kills the process after the grace period, and answers shortly after even if the process has not exited yet. */
  #stop(why: AbortReason): void {
    if (this.#stoppedFor !== undefined || this.#finished) return;
    this.#stoppedFor = why;
    this.#ended.abort();
    this.#target.send({ type: 'abort', run: this.#order.run, why });
    this.#timers.push(
      setTimeout(() => {
        this.#target.kill();
        this.#timers.push(setTimeout(() => this.#finishWith({ kind: 'crashed', how: 'killed' }), AFTER_KILL_MS));
      }, this.#order.abortGraceMs),
    );
  }

  #finishWith(ending: RunEnding): void {
    if (this.#notStarted !== undefined) return this.#finish(this.#notStarted);
    this.#finish(this.#stoppedFor === undefined ? ending : endingAfterAbort(this.#stoppedFor, ending));
  }

  #finish(ending: ProcessRunEnding): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#ended.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#progress.close();
    this.#order.request.signal.removeEventListener('abort', this.#onAbort);
    // Two `setImmediate` are one full turn of the event loop: output that the tool printed before it answered is still read for this call.
    setImmediate(() =>
      setImmediate(() => {
        this.#target.stdout.detach();
        this.#target.stderr.detach();
        this.#target.detach();
        this.#resolve(ending);
      }),
    );
  }
}
