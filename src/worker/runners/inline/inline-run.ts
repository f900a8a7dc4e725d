import type { CallId } from '../../../domain/identity/ids.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { Outcome } from '../../../domain/outcome/outcome.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import type { ServiceRequest } from '../../../domain/ports/service-access.ts';
import type {
  NestedCallRequest,
  PlatformReply,
  PlatformRequest,
  Progress,
  RunEnding,
  RunRequest,
  SecretAnswer,
  ToolLogLine,
} from '../../../domain/ports/tool-runner.ts';
import { answerSecret } from '../answer-secret.ts';
import { NO_PLATFORM } from '../call-platform.ts';
import type { RunHost } from '../open-context.ts';
import { abortError, endingAfterAbort, type AbortReason } from '../settle-abort.ts';
import type { DeadlineWatch, TimedRun } from './deadline-watch.ts';

/** One run of an inline tool: the functions that the tool can call, and the first of its end, its deadline and an order to stop. */
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

  /** The tool ended synchronously, so no promise was needed. */
  answerAtOnce(ending: RunEnding): RunEnding {
    this.#finish();
    return this.#told(ending);
  }

  /** From now on the deadline applies, and so does the grace period after an abort. */
  answerTo(resolve: (ending: RunEnding) => void, deadlines: DeadlineWatch): void {
    this.#resolve = resolve;
    this.#deadlines = deadlines;
    deadlines.add(this);
  }

  end(ending: RunEnding): void {
    this.#answer(this.#told(ending));
  }

  timeIsUp(): void {
    this.#stop('timed-out');
    this.#answer({ kind: this.#stoppedFor ?? 'timed-out' });
  }

  #told(ending: RunEnding): RunEnding {
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
    // The call is answered. What the tool left running should end, nested calls above all.
    if (this.#controller?.signal.aborted === false) this.#controller.abort(abortError('aborted'));
  }
}
