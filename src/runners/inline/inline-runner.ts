import { importModule } from '../../authoring/import-module.ts';
import type { CallId } from '../../domain/ids.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../ports/tool-runner.ts';
import type { RunHost } from '../open-context.ts';
import { factsOf, runTool } from '../run-tool.ts';
import { abortError, endingAfterAbort, type AbortReason } from '../settle-abort.ts';

export interface InlineRunnerOptions {
  /** How long a cancelled tool may take to end by itself before the call is answered without it. */
  readonly abortGraceMs?: number;
  /** A tool ended after its call was answered; its result is dropped. */
  readonly onLateEnding?: (late: { readonly callId: CallId; readonly kind: RunEnding['kind'] }) => void;
}

const DEFAULT_ABORT_GRACE_MS = 1000;

/** Runs trusted tools in the worker's own process. It can stop waiting for a tool, but it cannot stop the tool. */
export class InlineRunner implements ToolRunner {
  readonly #abortGraceMs: number;
  readonly #onLateEnding: NonNullable<InlineRunnerOptions['onLateEnding']>;
  #lateEndings = 0;
  #running = 0;

  constructor(options: InlineRunnerOptions = {}) {
    this.#abortGraceMs = options.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
    this.#onLateEnding = options.onLateEnding ?? (() => {});
  }

  /** Results that came after their call was answered. */
  get lateEndings(): number {
    return this.#lateEndings;
  }

  /** Tools that are inside their code, those nobody waits for included. */
  get running(): number {
    return this.#running;
  }

  run(request: RunRequest): Promise<RunEnding> {
    if (request.signal.aborted) return Promise.resolve({ kind: 'aborted' });
    return new Promise((resolve) => this.#start(request, resolve));
  }

  async close(): Promise<void> {}

  #start(request: RunRequest, resolve: (ending: RunEnding) => void): void {
    let controller: AbortController | undefined;
    let stoppedFor: AbortReason | undefined;
    let answered = false;
    let graceTimer: NodeJS.Timeout | undefined;

    const answer = (ending: RunEnding): void => {
      if (answered) return;
      answered = true;
      clearTimeout(timer);
      clearTimeout(graceTimer);
      request.signal.removeEventListener('abort', onAbort);
      // Nobody waits for it any more: what it left running should end, nested calls above all.
      if (controller !== undefined && !controller.signal.aborted) controller.abort(abortError('aborted'));
      resolve(ending);
    };
    const stop = (why: AbortReason): void => {
      stoppedFor ??= why;
      controller?.abort(abortError(stoppedFor));
    };
    const onAbort = (): void => {
      stop('aborted');
      graceTimer = setTimeout(() => answer({ kind: 'aborted' }), this.#abortGraceMs);
    };
    const timer = setTimeout(() => {
      stop('timed-out');
      answer({ kind: stoppedFor ?? 'timed-out' });
    }, request.timeoutMs);
    request.signal.addEventListener('abort', onAbort, { once: true });

    this.#running += 1;
    const host: RunHost = {
      get signal() {
        controller ??= new AbortController();
        if (stoppedFor !== undefined) controller.abort(abortError(stoppedFor));
        return controller.signal;
      },
      throwIfAborted() {
        if (stoppedFor !== undefined) throw abortError(stoppedFor);
      },
      onProgress: (progress) => answered || request.onProgress(progress),
      onLog: (line) => answered || request.onLog(line),
      onNestedCall: (nested) => request.onNestedCall(nested, host.signal),
    };
    void this.#enter(request, host).then((ending) => {
      this.#running -= 1;
      if (answered) this.#countLate(request.callId, ending);
      else answer(stoppedFor === undefined ? ending : endingAfterAbort(stoppedFor, ending));
    });
  }

  #enter(request: RunRequest, host: RunHost): Promise<RunEnding> {
    return runTool(() => importModule(request.source), request.source.tool, factsOf(request), host);
  }

  #countLate(callId: CallId, ending: RunEnding): void {
    this.#lateEndings += 1;
    this.#onLateEnding({ callId, kind: ending.kind });
  }
}
