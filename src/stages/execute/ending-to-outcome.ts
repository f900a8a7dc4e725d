import type { WriteBacks } from '../../domain/outcome/content.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { nearNames } from '../../base/near-names.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { RunEnding, ToolResult } from '../../domain/ports/tool-runner.ts';
import { judgeResult } from './judge-result.ts';

export interface EndedCall {
  readonly tool: ToolId;
  readonly timeoutMs: number;
  readonly inputSchema: JsonObject;
  /** Validates a value against the output schema and returns the problems. Present when the tool declares an output schema. */
  readonly validateOutput?: ((value: JsonValue) => readonly string[]) | undefined;
  /** RE2 patterns. A result that is plain text and matches one of them is a denial. */
  readonly denials: readonly string[];
}

const NO_CONTENT: Outcome['content'] = Object.freeze([]);
const MAX_PROBLEMS = 5;
const MAX_PROBLEM = 300;

/** Converts the ending of a run into the outcome of its call. A process that was stopped or lost may have done anything: `executed` is `unknown`. */
export function endingToOutcome(ending: RunEnding, call: EndedCall): Outcome {
  const { tool } = call;
  switch (ending.kind) {
    case 'returned':
      return returnedOutcome(ending.result, ending.writeBacks, call);
    case 'refused':
      return refusedOutcome(ending);
    case 'input-required':
      return inputOutcome(ending, tool);
    case 'invalid-arguments':
      return errorOutcome('ARGUMENTS_INVALID', { tool, problems: [...ending.problems] });
    case 'changed-arguments':
      return changedOutcome(ending.changes, call);
    case 'changed-answers':
      return errorOutcome('ANSWERS_TRANSFORMED', { tool, changes: [...ending.changes] }, { executed: 'yes' });
    case 'normalised':
    case 'not-json':
      // Only a run that was asked to normalise the arguments answers so. This run was not, so the answer breaks the protocol.
      return errorOutcome('TOOL_CRASHED', { tool, how: 'protocol: an unknown ending' }, { executed: 'unknown' });
    case 'not-run':
      return ending.outcome;
    case 'threw':
      return errorOutcome('TOOL_THREW', { tool, type: ending.type }, { executed: ending.isStarted ? 'yes' : 'no' });
    case 'timed-out':
      return errorOutcome('TOOL_TIMED_OUT', { tool, afterMs: call.timeoutMs }, { executed: 'unknown' });
    case 'aborted':
      return errorOutcome('CALL_CANCELLED', {}, { executed: 'unknown' });
    case 'crashed':
      return errorOutcome('TOOL_CRASHED', { tool, how: ending.how }, { executed: 'unknown' });
    case 'unserialisable':
      return errorOutcome('RESULT_UNSERIALISABLE', { tool, problem: ending.problem }, { executed: 'yes' });
    case 'too-large':
      return errorOutcome('RESULT_TOO_LARGE', { tool, is: ending.bytes, limit: ending.limit }, { executed: 'yes' });
  }
}

const REMOVED = ': removed';

/** If the schema only removed members that it does not declare, it transformed nothing: the caller sent arguments that the tool does not have. */
function changedOutcome(changes: readonly string[], { tool, inputSchema }: EndedCall): Outcome {
  const known = Object.keys((inputSchema['properties'] ?? {}) as JsonObject);
  const names = changes.map((change) => (change.endsWith(REMOVED) ? change.slice(0, -REMOVED.length) : undefined));
  const unknown = names.filter((name) => name !== undefined && !known.includes(name) && !name.includes('.'));
  if (known.length === 0 || unknown.length < changes.length)
    return errorOutcome('ARGUMENTS_TRANSFORMED', { tool, changes: [...changes] });
  return errorOutcome('ARGUMENTS_INVALID', { tool, problems: unknown.map((name) => describeUnknown(name!, known)) });
}

function describeUnknown(name: string, known: readonly string[]): string {
  const [near] = nearNames(name, known, 1);
  return `it has no argument ${name}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

function refusedOutcome(ending: Extract<RunEnding, { kind: 'refused' }>): Outcome {
  const { message, code } = ending;
  const facts = code === undefined ? { message } : { message, code };
  const more = { executed: 'yes', ...carried(ending.writeBacks) } as const;
  return ending.how === 'denied' ? errorOutcome('TOOL_DENIED', facts, more) : errorOutcome('TOOL_FAILED', facts, more);
}

/** The tool ran until it asked for input. Its effects up to that point have happened, so `executed` is `yes`. */
function inputOutcome(ending: Extract<RunEnding, { kind: 'input-required' }>, tool: ToolId): Outcome {
  const more = { executed: 'yes', ...carried(ending.writeBacks) } as const;
  if (ending.unavailable.length > 0)
    return errorOutcome('INPUT_UNAVAILABLE', { tool, kinds: [...ending.unavailable] }, more);
  // The runner has already converted the request to plain data, so the cast is safe.
  const { requests, problems, ...state } = ending.required as unknown as {
    requests: JsonObject;
    problems?: JsonObject;
  };
  return errorOutcome(
    'INPUT_REQUIRED',
    { tool, requests, ...state, ...(problems === undefined ? {} : { problems }) },
    more,
  );
}

function returnedOutcome(result: ToolResult, writeBacks: WriteBacks, call: EndedCall): Outcome {
  const judged = judgeResult(result, call.denials);
  const shown = showResult(result, call);
  if (judged.kind === 'ok' && call.validateOutput === undefined && carriesNothing(writeBacks)) {
    return shown.structured === undefined
      ? { kind: 'ok', retryable: false, executed: 'yes', content: shown.content }
      : { kind: 'ok', retryable: false, executed: 'yes', content: shown.content, structured: shown.structured };
  }
  const more = { executed: 'yes', ...carried(writeBacks) } as const;
  if (judged.kind !== 'ok') {
    const { content, ...structured } = shown;
    const visible = content.length === 0 ? structured : shown;
    return errorOutcome(
      judged.kind === 'denied' ? 'TOOL_DENIED' : 'TOOL_FAILED',
      { message: judged.message },
      { ...more, ...visible },
    );
  }
  const problems = outputProblems(result, call);
  if (problems.length > 0) return errorOutcome('RESULT_INVALID', { tool: call.tool, problems }, more);
  return { kind: 'ok', retryable: false, ...more, ...shown };
}

/**
 * Text becomes content; any other JSON becomes the structured value and is not repeated as content. A tool with an output schema always has
 * a structured value.
 */
function showResult(result: ToolResult, call: EndedCall): Pick<Outcome, 'content' | 'structured'> {
  const { value, content = NO_CONTENT } = result;
  if (value === undefined) return { content };
  if (typeof value !== 'string' || result.content !== undefined) return { content, structured: value };
  const text = [{ kind: 'text', text: value } as const];
  return call.validateOutput === undefined ? { content: text } : { content: text, structured: value };
}

function outputProblems(result: ToolResult, call: EndedCall): string[] {
  if (call.validateOutput === undefined) return [];
  const problems = result.value === undefined ? ['it has no value'] : call.validateOutput(result.value);
  return problems.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM));
}

function carried(writeBacks: WriteBacks): { writeBacks?: WriteBacks } {
  return carriesNothing(writeBacks) ? {} : { writeBacks };
}

function carriesNothing({ files, messages, injectedTools, cost }: WriteBacks): boolean {
  return cost === undefined && files.length + messages.length + injectedTools.length === 0;
}
