import type { JsonValue } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { RunnerName } from '../../domain/tool/tool.ts';
import { andThen } from '../../base/and-then.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { endingToOutcome } from './ending-to-outcome.ts';
import { bindState } from './with-input.ts';

/** A call that was identified and allowed, with everything its run needs. */
export interface ExecutableCall extends RunRequest {
  readonly runner: RunnerName;
  readonly builtIn?: ToolRunner | undefined;
  /** Present when the tool declares an output schema. */
  readonly validateOutput?: ((value: JsonValue) => readonly string[]) | undefined;
  readonly denials: readonly string[];
  /** Called with the ending of the run and its outcome. Present while there are listeners. */
  readonly onJudged?: ((ending: RunEnding, outcome: Outcome) => void) | undefined;
}

export interface ExecuteNeeds {
  readonly runners: Readonly<Record<RunnerName, ToolRunner>>;
}

/** Runs the tool and judges its ending. The cause of an exception goes to the call's log, never into the outcome. */
export function runAndJudge(call: ExecutableCall, needs: ExecuteNeeds): MaybePromise<Outcome> {
  const { builtIn } = call;
  // A tool of the plane itself has no code to load, so its permit is checked here and it is entered at once.
  const ending =
    builtIn === undefined
      ? needs.runners[call.runner].run(call)
      : andThen(call.start?.stopFor(), (stop) => stop ?? builtIn.run(call));
  return ending instanceof Promise ? ending.then((late) => judge(late, call)) : judge(ending, call);
}

function judge(told: RunEnding, call: ExecutableCall): Outcome {
  const ending = told.kind === 'input-required' ? bindState(told, call.arguments) : told;
  if (ending.kind === 'threw') {
    call.onLog({ level: 'error', message: `The tool threw ${ending.type}.`, data: { cause: ending.cause } });
  }
  const { timeoutMs, denials, validateOutput } = call;
  const { id: tool, inputSchema } = call.tool;
  const outcome = endingToOutcome(ending, { tool, inputSchema, timeoutMs, denials, validateOutput });
  call.onJudged?.(ending, outcome);
  return outcome;
}
