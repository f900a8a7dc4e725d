import { importModule, loadedModule } from '../../../modules/authoring/import-module.ts';
import type { CallId } from '../../../domain/identity/ids.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../../domain/ports/tool-runner.ts';
import { factsOf, runLoaded, runTool } from '../run-tool.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { InlineRun } from './inline-run.ts';

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
