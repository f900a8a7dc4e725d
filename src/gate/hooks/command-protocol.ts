import { z } from 'zod';
import type {
  AfterToolCall,
  ApprovalResolved,
  BeforeAnswer,
  BeforeToolCall,
  HookEventName,
  ResultAnswer,
  ToolResultCall,
} from '../../domain/policy/hook.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import { HookError } from './call-hook.ts';
import type { ExitedProgram } from '../../base/run-program.ts';
import { oneLine } from './show-cause.ts';

/**
 * Writes what a command reads from stdin. The shape is that of the command hooks of coding agents (Claude Code's PreToolUse and
 * PostToolUse), so that a guard written for one of them works here. Facts that this shape has no place for are in the member `sallyport`.
 */
export function writeInput(on: HookEventName, event: unknown, cwd: string): string {
  if (on === 'approval_resolved') {
    const approval = event as ApprovalResolved;
    return JSON.stringify({ hook_event_name: 'ApprovalResolved', session_id: approval.session, cwd, approval });
  }
  const call = event as BeforeToolCall | ToolResultCall | AfterToolCall;
  const { callId, tool, session, arguments: input, ...rest } = call;
  const { outcome, durationMs, ...facts } = rest as Partial<ToolResultCall | AfterToolCall>;
  const after = outcome === undefined ? {} : { tool_response: outcome, duration_ms: durationMs };
  return JSON.stringify({
    hook_event_name: on === 'before_tool_call' ? 'PreToolUse' : 'PostToolUse',
    session_id: session,
    cwd,
    permission_mode: 'default',
    tool_name: tool,
    tool_input: input,
    tool_use_id: callId,
    ...after,
    sallyport: facts,
  });
}

const text = z.string();
const decision = z
  .strictObject({
    hookEventName: z.literal('PreToolUse'),
    permissionDecision: z.enum(['allow', 'deny', 'ask']).exactOptional(),
    permissionDecisionReason: text.exactOptional(),
    updatedInput: z.custom<JsonObject>(isJsonObject, 'expected an object').exactOptional(),
    /** Text for the model of a coding agent. Accepted and ignored: no model reads it here. */
    additionalContext: text.exactOptional(),
  })
  .exactOptional();

const output = z.strictObject({
  hookSpecificOutput: decision,
  /** The older form of `hookSpecificOutput.permissionDecision`. */
  decision: z.enum(['approve', 'block']).exactOptional(),
  reason: text.exactOptional(),
  continue: z.boolean().exactOptional(),
  stopReason: text.exactOptional(),
  /** `suppressOutput` and `systemMessage` control what a terminal shows. Accepted and ignored. */
  suppressOutput: z.boolean().exactOptional(),
  systemMessage: text.exactOptional(),
});

const resultOutput = z.strictObject({
  hookSpecificOutput: z
    .strictObject({
      hookEventName: z.literal('PostToolUse'),
      updatedToolOutput: z.custom<JsonObject>(isJsonObject, 'expected an object').exactOptional(),
      additionalContext: text.exactOptional(),
    })
    .exactOptional(),
  suppressOutput: z.boolean().exactOptional(),
  systemMessage: text.exactOptional(),
});

const EXIT_DENY = 2;

/**
 * Reads the answer of a `before_tool_call` command. Throws for every exit code except 0 and 2, for a signal, and for output that it does
 * not understand.
 */
export function readOutput({ exitCode, signal, stdout, stderr }: ExitedProgram): BeforeAnswer | undefined {
  if (exitCode === EXIT_DENY) return blocked(stderr);
  if (exitCode !== 0) throw badEnding({ exitCode, signal, stderr });
  const said = stdout.toString('utf8').trim();
  if (said === '') return undefined;
  const json = parseStrictJson(said);
  if (!json.ok) throw new HookError('invalid-answer', `its output is not JSON: ${json.error.problem}`);
  const parsed = output.safeParse(json.value);
  if (!parsed.success) throw new HookError('invalid-answer', `its output is not understood: ${describe(parsed.error)}`);
  return toAnswer(parsed.data);
}

/**
 * Reads the answer of a `tool_result` command. No output keeps the result. Throws for an exit code other than 0, exit code 2 included, and
 * for output that cannot be used. Error messages never quote the output: it may contain the result.
 */
export function readResultOutput({ exitCode, signal, stdout }: ExitedProgram): ResultAnswer | undefined {
  if (exitCode !== 0) throw badEnding({ exitCode, signal });
  const said = stdout.toString('utf8').trim();
  if (said === '') return undefined;
  const json = parseStrictJson(said);
  if (!json.ok) throw new HookError('invalid-answer', 'its output is not JSON');
  const parsed = resultOutput.safeParse(json.value);
  // The message does not name the unknown keys: they may be keys of the result.
  if (!parsed.success) throw new HookError('invalid-answer', 'its output is not that of a PostToolUse hook');
  const answer = parsed.data.hookSpecificOutput?.updatedToolOutput;
  // A command that prints output probably wants to change the result. If its change cannot be found in the output, the unchanged result
  // must not pass: the change may have been a redaction.
  if (answer === undefined) throw new HookError('invalid-answer', 'its output has no updatedToolOutput');
  return answer;
}

/** Checks the exit of a command that only observes. Its output is ignored. Throws if the exit code is not 0. */
export function checkEnding({ exitCode, signal, stderr }: ExitedProgram): void {
  if (exitCode !== 0) throw badEnding({ exitCode, signal, stderr });
}

function badEnding({
  exitCode,
  signal,
  stderr,
}: Omit<ExitedProgram, 'kind' | 'stdout' | 'stderr'> & { stderr?: string }): HookError {
  const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
  return new HookError('exited', `it ended with ${how}${stderr === undefined ? '' : `: ${stderr}`}`);
}

function toAnswer(said: z.output<typeof output>): BeforeAnswer | undefined {
  const { permissionDecision, permissionDecisionReason, updatedInput } = said.hookSpecificOutput ?? {};
  const reason = permissionDecisionReason ?? said.reason ?? said.stopReason;
  if (permissionDecision === 'deny' || said.decision === 'block' || said.continue === false)
    return blocked(reason ?? '');
  const rewrite = updatedInput === undefined ? {} : { params: updatedInput };
  if (permissionDecision !== 'ask') return rewrite;
  const shown = oneLine(reason ?? '');
  return { ...rewrite, requireApproval: shown === '' ? {} : { reason: shown } };
}

function blocked(given: string): BeforeAnswer {
  const reason = oneLine(given);
  return reason === '' ? { block: true } : { block: true, reason };
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map((issue) => `${issue.path.map(String).join('.') || 'it'}: ${issue.message}`)
    .join('; ');
}
