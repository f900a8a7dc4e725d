import { importModule, loadedModule } from '../../../modules/authoring/import-module.ts';
import type { CallId } from '../../../domain/identity/ids.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import type {
  RunEnding,
  RunRequest,
  ToolRunner,
  NestedCallRequest,
  PlatformReply,
  PlatformRequest,
  Progress,
  SecretAnswer,
  ToolLogLine,
} from '../../../domain/ports/tool-runner.ts';
import { factsOf, runLoaded, runTool } from '../run-tool.ts';
import { DeadlineWatch, type TimedRun } from './deadline-watch.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { Outcome } from '../../../domain/outcome/outcome.ts';
import type { ServiceRequest } from '../../../domain/ports/service-access.ts';
import { answerSecret } from '../answer-secret.ts';
import { NO_PLATFORM } from '../call-platform.ts';
import type { RunHost } from '../open-context.ts';
import { abortError, endingAfterAbort, type AbortReason } from '../settle-abort.ts';

export interface InlineRunnerOptions {
  /** How long a cancelled tool may take to end by itself. After that the call is answered without it. */
  readonly abortGraceMs?: number;
  /** Called when a tool ends after its call was answered; its result is dropped. */
  readonly onLateEnding?: (late: { readonly callId: CallId; readonly kind: RunEnding['kind'] }) => void;
}

const DEFAULT_ABORT_GRACE_MS = 1000;

/** Runs trusted tools in the worker's own process. It can stop waiting for a tool, but it cannot stop the tool. */
export class InlineRunner implements ToolRunner {
  readonly #abortGraceMs: number;
  readonly #onLateEnding: NonNullable<InlineRunnerOptions['onLateEnding']>;
  readonly #deadlines = new DeadlineWatch();
  #lateEndings = 0;
  #running = 0;

  constructor(options: InlineRunnerOptions = {}) {
    this.#abortGraceMs = options.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
    this.#onLateEnding = options.onLateEnding ?? (() => {});
  }

  /** Number of results that came after their call was answered. */
  get lateEndings(): number {
    return this.#lateEndings;
  }

  /** Number of tools whose code is running, including those whose call was already answered. */
  get running(): number {
    return this.#running;
  }

  run(request: RunRequest): MaybePromise<RunEnding> {
    if (request.signal.aborted) return { kind: 'aborted' };
    const { source } = request;
    const run = new InlineRun(request, this.#abortGraceMs);
    this.#running += 1;
    const module = loadedModule(source);
    const ending =
      module === undefined
        ? runTool(() => importModule(source), source.tool, factsOf(request), run)
        : runLoaded(module, source.tool, factsOf(request), run);
    if (ending instanceof Promise) return this.#awaitEnding(run, ending);
    this.#running -= 1;
    return run.answerAtOnce(ending);
  }

  async close(): Promise<void> {}

  #awaitEnding(run: InlineRun, ending: Promise<RunEnding>): Promise<RunEnding> {
    return new Promise((resolve) => {
      run.answerTo(resolve, this.#deadlines);
      void ending.then((ended) => {
        this.#running -= 1;
        if (run.isAnswered) this.#countLate(run.callId, ended);
        else run.end(ended);
      });
    });
  }

  #countLate(callId: CallId, ending: RunEnding): void {
    this.#lateEndings += 1;
    this.#onLateEnding({ callId, kind: ending.kind });
  }
}

/**
 * One run of an inline tool. Has the functions that the tool can call, and answers as soon as the tool ends, its time is up or it is
 * stopped.
 */
export class InlineRun implements RunHost, TimedRun {
  readonly endsAt: number;
  place = -1;
  readonly #request: RunRequest;
  readonly #abortGraceMs: number;
  readonly #onAbort = (): void => this.#abort();
  #resolve: ((ending: RunEnding) => void) | undefined;
  #deadlines: DeadlineWatch | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #stoppedFor: AbortReason | undefined;
  #answered = false;

  constructor(request: RunRequest, abortGraceMs: number) {
    this.endsAt = performance.now() + request.timeoutMs;
    this.#request = request;
    this.#abortGraceMs = abortGraceMs;
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get callId(): CallId {
    return this.#request.callId;
  }

  get isAnswered(): boolean {
    return this.#answered;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stoppedFor !== undefined) this.#controller.abort(abortError(this.#stoppedFor));
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.#stoppedFor !== undefined) throw abortError(this.#stoppedFor);
  }

  stopFor(): MaybePromise<RunEnding | undefined> {
    return this.#request.start?.stopFor();
  }

  onProgress(progress: Progress): void {
    if (!this.#answered) this.#request.onProgress(progress);
  }

  onLog(line: ToolLogLine): void {
    if (!this.#answered) this.#request.onLog(line);
  }

  onNestedCall(nested: NestedCallRequest): Promise<Outcome> {
    return this.#request.onNestedCall(nested, this.signal);
  }

  onSecret(name: string): Promise<SecretAnswer> {
    return answerSecret(this.#request, name);
  }

  onServiceCall(request: ServiceRequest): Promise<JsonValue> {
    const { services } = this.#request;
    if (this.#answered || services === undefined) return Promise.reject(new Error('This call has ended.'));
    return services.call(request);
  }

  onPlatform(asked: PlatformRequest): Promise<PlatformReply> {
    return this.#request.onPlatform?.(asked, this.signal) ?? Promise.resolve(NO_PLATFORM);
  }

  /** For a tool that ended synchronously: no promise is created. */
  answerAtOnce(ending: RunEnding): RunEnding {
    this.#finish();
    return this.#reportedEnding(ending);
  }

  /** From now on the deadline applies, and so does the grace period after an abort. */
  answerTo(resolve: (ending: RunEnding) => void, deadlines: DeadlineWatch): void {
    this.#resolve = resolve;
    this.#deadlines = deadlines;
    deadlines.add(this);
  }

  end(ending: RunEnding): void {
    this.#answer(this.#reportedEnding(ending));
  }

  timeIsUp(): void {
    this.#stop('timed-out');
    this.#answer({ kind: this.#stoppedFor ?? 'timed-out' });
  }

  #reportedEnding(ending: RunEnding): RunEnding {
    return this.#stoppedFor === undefined ? ending : endingAfterAbort(this.#stoppedFor, ending);
  }

  #abort(): void {
    this.#stop('aborted');
    this.#graceTimer = setTimeout(() => this.#answer({ kind: 'aborted' }), this.#abortGraceMs);
  }

  #stop(why: AbortReason): void {
    this.#stoppedFor ??= why;
    this.#controller?.abort(abortError(this.#stoppedFor));
  }

  #answer(ending: RunEnding): void {
    if (this.#answered) return;
    this.#finish();
    this.#resolve?.(ending);
  }

  #finish(): void {
    this.#answered = true;
    this.#deadlines?.delete(this);
    clearTimeout(this.#graceTimer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    // The call is answered, so work that the tool left running should end. Above all this cancels its nested calls.
    if (this.#controller?.signal.aborted === false) this.#controller.abort(abortError('aborted'));
  }
}
