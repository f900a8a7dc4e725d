import type { JsonObject } from '../../base/json.ts';
import { UNSERVED } from '../tool/serving.ts';
import type { CancelFacts } from '../call/cancelled-by.ts';
import { entry } from './error-entry.ts';
import { GATE_ERRORS } from './gate-errors.ts';
import type { SubjectShare } from '../call/subject-share.ts';

/** The name of each share in messages. */
const SHARE_NAMES: Readonly<Record<string, string>> = {
  liveBytes: 'the bytes of calls under way',
  parkedBytes: 'the bytes of calls that wait for a person',
  retainedBytes: 'the bytes of kept results',
  pendingApprovals: 'the questions that wait for a person',
};

function whatFrees({ share, retryAfterMs }: { readonly share: SubjectShare; readonly retryAfterMs?: number }): string {
  if (retryAfterMs !== undefined) return `There is room as its calls end. Try again in ${retryAfterMs} ms.`;
  if (share === 'retainedBytes') return 'There is room when its results reach the end of their retention.';
  return 'There is room when questions about its calls are decided or expire, or the calls are cancelled.';
}

/** Errors that end calls. Each becomes an outcome; codes are never reused. */
export const CALL_ERRORS = {
  ENVELOPE_INVALID: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { problem: string }) => `The call was not understood: ${d.problem}.`,
    fix: 'Send only the documented fields.',
  }),
  ENVELOPE_VERSION: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'never',
    say: (d: { version: string; known: string }) =>
      `The call has format version ${d.version}; this worker reads ${d.known}.`,
    fix: 'Run client and workers of the same release line.',
  }),
  ARGUMENTS_INVALID: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; problems: string[] }) => `Wrong arguments for ${d.tool}: ${d.problems.join('; ')}.`,
    fix: "Send arguments that match the tool's input schema.",
  }),
  ARGUMENTS_TRANSFORMED: entry({
    stage: 'execute',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; changes: string[] }) =>
      `${d.tool} was not run: its schema makes something else of these arguments than what was checked (${d.changes.join('; ')}). Send them in the form that the schema makes of them.`,
    fix: 'Declare `normalises: true` on the tool, so that its schema is applied before the rules; or take the transform out of its schema. See docs/tools.md.',
  }),
  ARGUMENTS_NOT_JSON: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; problem: string }) =>
      `${d.tool} was not run: what its schema makes of these arguments is not JSON (${d.problem}).`,
    fix: 'A tool with `normalises: true` needs a schema whose result is JSON. Make dates and the like in its `run`.',
  }),
  ARGUMENTS_TOO_LARGE: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { what: string; is: number; limit: number }) =>
      `The arguments have too many ${d.what}: ${d.is}, the limit is ${d.limit}.`,
    fix: 'Send less, or a reference to the data.',
  }),
  KEY_INVALID: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { problem: string }) => `The idempotency key cannot be used: ${d.problem}.`,
    fix: 'Use 1 to 255 printable ASCII characters.',
  }),
  DEADLINE_INVALID: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { limitMs: number }) => `The deadline must be between 1 and ${d.limitMs} milliseconds.`,
  }),
  NESTED_TOO_DEEP: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { limit: number }) => `Tools may call each other at most ${d.limit} levels deep.`,
  }),
  KEY_CONFLICT: entry({
    stage: 'accept',
    kind: 'conflict',
    retry: 'never',
    say: (d: { callId: string }) => `This key was already used for another tool or other arguments (call ${d.callId}).`,
    fix: 'Use a new key for a new request.',
  }),
  OVERLOADED: entry({
    stage: 'accept',
    kind: 'overloaded',
    retry: 'after-a-while',
    say: (d: { what: string; retryAfterMs?: number }) =>
      d.retryAfterMs === undefined
        ? `Too much is waiting (${d.what}). It is not known when there will be room: most of it waits for people to decide.`
        : `Too much is waiting (${d.what}). Try again in ${d.retryAfterMs} ms.`,
    fix: 'sallyport doctor says what is full. Add workers for calls that wait to run, have questions decided for calls that wait for people, shorten worker.retentionMs for kept outcomes, or raise the admission limits.',
  }),
  SUBJECT_SHARE_FULL: entry({
    stage: 'accept',
    kind: 'overloaded',
    retry: 'after-a-while',
    say: (d: { share: SubjectShare; limit: number; retryAfterMs?: number }) =>
      `Nothing was run: this subject has used up its share of ${SHARE_NAMES[d.share] ?? d.share} (${d.limit}). ${whatFrees(d)}`,
    fix: 'Other subjects go on. Have the questions of this subject decided, or cancel calls of it; or raise the share under admission: subjectLiveBytes, subjectParkedBytes, subjectRetainedBytes, subjectPendingApprovals.',
  }),
  AUDIT_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'overloaded',
    retry: 'after-a-while',
    say: (d: { what: string }) => `The audit cannot be kept up at the moment, and ${d.what} do not run without it.`,
    fix: 'Start a gateway, or its sink. sallyport doctor tells which lane waits, and for how long.',
  }),
  SESSION_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unauthenticated',
    retry: 'after-the-fix',
    say: () => 'There is no such session, or the token is wrong.',
    fix: 'Open a session on the trusted side and pass its id and token.',
  }),
  SESSION_EXPIRED: entry({
    stage: 'accept',
    kind: 'unauthenticated',
    retry: 'after-the-fix',
    say: () => 'The session has expired.',
    fix: 'Open a new session; touch long ones.',
  }),
  SESSION_REVOKED: entry({
    stage: 'accept',
    kind: 'unauthenticated',
    retry: 'after-the-fix',
    say: () => 'The session was revoked.',
    fix: 'Open a new session.',
  }),
  RUN_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unauthenticated',
    retry: 'after-the-fix',
    say: () => 'The run does not belong to this session, or has ended.',
    fix: 'Open a run with openRun.',
  }),
  SESSION_ENDED: entry({
    stage: 'admit',
    kind: 'denied',
    retry: 'never',
    say: (d: { ending: string }) => `The session ended before the tool started (${d.ending}).`,
  }),
  TOOL_PINNED: entry({
    stage: 'accept',
    kind: 'denied',
    retry: 'after-the-fix',
    say: (d: { tool: string }) => `${d.tool} runs in the process of its caller only, and this one does not serve it.`,
    fix: 'Serve it in the process that calls it: servePinned, and pass it to connect.',
  }),
  TOOL_QUARANTINED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'after-the-fix',
    say: (d: { tool: string; upstream: string; change: string }) =>
      `${d.tool} ${d.change} at the MCP server ${d.upstream} since it was published, so it is not run.`,
    fix: 'See the difference and accept it: sallyport upstreams show NAME, sallyport upstreams accept NAME',
  }),
  UPSTREAM_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-a-while',
    say: (d: { tool: string; upstream: string; problem: string }) =>
      `${d.tool} was not run, because the MCP server ${d.upstream} cannot be used: ${d.problem}.`,
    fix: 'Try it with: sallyport upstreams test NAME',
  }),
  UPSTREAM_LOST: entry({
    stage: 'execute',
    kind: 'indeterminate',
    retry: 'never',
    say: (d: { tool: string; how: string }) =>
      `The connection to the server of ${d.tool} was lost while it had the call (${d.how}). It may have run, wholly or in part. Check before you try again.`,
    fix: 'Find out what happened, then: sallyport calls resolve <id> --ran|--not-ran',
  }),
  TOOL_UNKNOWN: entry({
    stage: 'identify',
    kind: 'unknown-tool',
    retry: 'never',
    say: (d: { tool: string; near: string[] }) =>
      `There is no tool "${d.tool}".${d.near.length > 0 ? ` Did you mean ${d.near.join(', ')}?` : ''}`,
    fix: 'List the tools with: sallyport catalog',
  }),
  TOOL_UNSERVED: entry({
    stage: 'identify',
    kind: 'unknown-tool',
    retry: 'after-the-fix',
    say: (d: { tool: string }) => `${d.tool} is ${UNSERVED}. Use another tool.`,
    fix: 'Start a worker that serves it, or take its module out of the catalog: sallyport catalog withdraw MODULE',
  }),
  TOOL_STALE: entry({
    stage: 'identify',
    kind: 'stale',
    retry: 'same-call',
    say: (d: { tool: string; current: string }) =>
      `${d.tool} has changed since you saw it. Read its definition again (digest ${d.current}).`,
    fix: 'Refresh the catalog. The client library does it by itself, once.',
  }),
  PERMISSION_DENIED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; subject: string; reason: string }) => `${d.subject} may not use ${d.tool} (${d.reason}).`,
    fix: 'Change the policy: sallyport policy show, then sallyport policy set.',
  }),
  NOT_SELECTED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; agent: string; reason: string }) =>
      `Agent ${d.agent} does not have ${d.tool} (${d.reason}).`,
    fix:
      'Add the tool to the selection of the agent: sallyport agents show, then sallyport agents set. ' +
      'To end the selecting for all agents, set a policy file with agents: null.',
  }),
  PAUSED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'after-the-fix',
    /** `paused` names the pause: `tool notes.*`, `agent main` or `all`. */
    say: (d: { tool: string; agent: string; paused: string }) =>
      `Calls of ${d.tool} by ${d.agent} are paused by an operator.`,
    fix: 'Resume with: sallyport pause <paused> --resume',
  }),
  DEADLINE_PASSED: entry({
    stage: 'admit',
    kind: 'expired',
    retry: 'same-call',
    say: () => 'The deadline passed before the tool started.',
    fix: 'Give a longer deadline, or add workers.',
  }),
  TOOL_TIMED_OUT: entry({
    stage: 'execute',
    kind: 'timed-out',
    retry: 'never',
    say: (d: { tool: string; afterMs: number }) => `${d.tool} did not finish within ${d.afterMs} ms and was stopped.`,
    fix: "Raise the tool's timeoutMs or the call's deadline.",
  }),
  CALL_CANCELLED: entry({
    stage: 'execute',
    kind: 'cancelled',
    retry: 'never',
    say: (_facts: CancelFacts) => 'The call was cancelled.',
  }),
  TOOL_CRASHED: entry({
    stage: 'execute',
    kind: 'crashed',
    retry: 'never',
    say: (d: { tool: string; how: string }) => `${d.tool} ended its process (${d.how}).`,
    fix: "See the worker's log for this call id.",
  }),
  TOOL_POISONOUS: entry({
    stage: 'admit',
    kind: 'crashed',
    retry: 'never',
    say: (d: { tool: string; starts: number }) =>
      `${d.tool} was started ${d.starts} times with this call and each time its worker was lost.`,
    fix: "Run the tool in the 'process' runner and see the workers' logs.",
  }),
  MAY_HAVE_RUN: entry({
    stage: 'admit',
    kind: 'indeterminate',
    retry: 'never',
    say: (d: { tool: string }) =>
      `The worker was lost while ${d.tool} was running. It may have run, wholly or in part. Check before you try again.`,
    fix: 'Find out what happened, then: sallyport calls resolve <id> --ran|--not-ran',
  }),
  BODY_LOST: entry({
    stage: 'admit',
    kind: 'indeterminate',
    retry: 'never',
    say: () => "The call's body is gone from the store, so it cannot be run.",
    fix: 'Somebody trimmed or deleted entries of a pool stream. Never do that.',
  }),
  TOOL_FAILED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { message: string }) => d.message,
  }),
  TOOL_DENIED: entry({
    stage: 'execute',
    kind: 'denied',
    retry: 'never',
    say: (d: { message: string }) => d.message,
  }),
  TOOL_THREW: entry({
    stage: 'execute',
    kind: 'exception',
    retry: 'never',
    say: (d: { tool: string; type: string }) => `${d.tool} stopped with an internal error (${d.type}).`,
    fix: "See the worker's log for this call id.",
  }),
  RESULT_INVALID: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; problems: string[] }) =>
      `${d.tool} ran, but its result does not match its output schema: ${d.problems.join('; ')}.`,
    fix: "Correct the tool's output or its schema.",
  }),
  RESULT_UNSERIALISABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; problem: string }) => `${d.tool} ran, but its result cannot be sent: ${d.problem}.`,
    fix: 'Return JSON values and content blocks.',
  }),
  RESULT_TOO_LARGE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; is: number; limit: number }) =>
      `${d.tool} ran, but its result has ${d.is} bytes; the limit is ${d.limit}.`,
    fix: "Return less, or raise the tool's maxResultBytes.",
  }),
  ...GATE_ERRORS,
  STORE_WENT_BACK: entry({
    stage: 'operate',
    kind: 'indeterminate',
    retry: 'never',
    say: (d: { tool: string }) =>
      `The store went back to an older copy in which ${d.tool} had not ended. It may have run since then. Check before you try again.`,
    fix: 'Find out what happened, then: sallyport calls resolve <id> --ran|--not-ran',
  }),
  RESOURCE_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unknown-tool',
    retry: 'never',
    say: (d: { uri: string }) => `There is no resource ${d.uri}.`,
    fix: 'List the resources. What the agent may not read is not among them.',
  }),
  PROMPT_UNKNOWN: entry({
    stage: 'accept',
    kind: 'unknown-tool',
    retry: 'never',
    say: (d: { name: string; several: string[] }) =>
      d.several.length === 0
        ? `There is no prompt "${d.name}".`
        : `Several prompts are called "${d.name}": ${d.several.join(', ')}.`,
    fix: 'List the prompts, and name one as module.name. What the agent may not use is not among them.',
  }),
  INPUT_REQUIRED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; requests: JsonObject; problems?: JsonObject }) =>
      d.problems === undefined
        ? `${d.tool} needs an answer first: ${Object.keys(d.requests).join(', ')}.`
        : `${d.tool} cannot use the answer it was given: ${Object.keys(d.problems).join(', ')}.`,
    fix: 'Call it again with the same arguments and `input: { responses, state }`, or `--answers` and `--state`.',
  }),
  INPUT_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { tool: string; kinds: string[] }) =>
      `${d.tool} needs something that this caller cannot give: ${d.kinds.join(', ')}.`,
    fix: 'Call it from a client that can be asked for it.',
  }),
  ANSWERS_TRANSFORMED: entry({
    stage: 'execute',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; changes: string[] }) =>
      `${d.tool} did not get these answers: the schema of its form makes something else of them than what was shown (${d.changes.join('; ')}). Send them in the form that the schema makes of them.`,
    fix: 'Take the transform out of the schema of the form, and change the answer in `run`. See docs/tools.md.',
  }),
  INPUT_STALE: entry({
    stage: 'accept',
    kind: 'invalid',
    retry: 'never',
    say: (d: { callId: string }) => `The call ${d.callId} does not wait for an answer to this tool.`,
    fix: 'Call the tool without input, and answer what it asks for then.',
  }),
} as const;
