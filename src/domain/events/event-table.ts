import type { DiagnosticEventMap, EventKind, SharedFields } from './diagnostic-event.ts';
import type { Stage } from '../call/stages.ts';

export interface EventEntry<Kind extends EventKind> {
  /** The stage of the event, unless the code that emits it names another stage. */
  readonly stage?: Stage;
  readonly where: 'caller' | 'worker' | 'both' | 'listener';
  readonly says: string;
  /** Only these fields are copied into an event, so a field that is not listed here reaches no listener. */
  readonly fields: { readonly [Field in AllKeys<DiagnosticEventMap[Kind]>]: string };
}

type AllKeys<Shape> = Shape extends unknown ? keyof Shape & string : never;

const TIMED = { durationMs: 'how long it took, in milliseconds' } as const;
const PARAMETERS = { parameters: 'kind and size of the arguments; never a value, never the name of a key' } as const;
const ENDED = {
  outcome: 'the kind of the outcome',
  executed: "whether the tool's own code ran: `no`, `yes` or `unknown`",
  error: 'category, retryable, the code of the plane, HTTP status; absent when it ended `ok`',
} as const;
const PARENT = { parent: 'the call whose tool made this one' } as const;
const LOOP = { detector: 'which detector saw it', count: 'how often the pattern was seen' } as const;

/** All diagnostic events, in the order in which they can happen to a call. */
export const DIAGNOSTIC_EVENTS: { readonly [Kind in EventKind]: EventEntry<Kind> } = {
  'call.accepted': {
    stage: 'accept',
    where: 'both',
    says: 'The store has taken the call. Also told by a worker whose tool made a call.',
    fields: { ...PARAMETERS, deadlineMs: 'time the call has in all', ...PARENT, ...TIMED },
  },
  'call.attached': {
    stage: 'accept',
    where: 'both',
    says: 'The same call was under way; this is one more waiter.',
    fields: { ...PARAMETERS, ...PARENT, ...TIMED },
  },
  'call.replayed': {
    stage: 'accept',
    where: 'both',
    says: 'The same call had ended; its outcome was given again.',
    fields: { ...ENDED, ...PARENT, ...TIMED },
  },
  'call.refused': {
    stage: 'accept',
    where: 'both',
    says: 'It ended before the gate was asked or the tool was entered. The stage says where.',
    fields: { ...ENDED, ...TIMED },
  },
  'call.admitted': {
    stage: 'admit',
    where: 'worker',
    says: 'A worker has it, and its session lives.',
    fields: {
      fence: 'grows with every new owner',
      recovered: 'somebody had it before and was lost, or gave it back',
      waitedMs: "since it was accepted, by the store's clock",
    },
  },
  'call.resumed': {
    stage: 'admit',
    where: 'worker',
    says: 'It was parked and goes on.',
    fields: { fence: 'grows with every new owner' },
  },
  'call.identified': {
    stage: 'identify',
    where: 'worker',
    says: 'Caller, tool, permission and arguments are checked.',
    fields: { durationMs: 'since the worker has it' },
  },
  'tool.blocked': {
    stage: 'gate',
    where: 'worker',
    says: 'The gate said no. The tool was not entered, and no other event of the tool follows.',
    fields: { ...ENDED, by: 'what said no: `rule`, `hook`, `loop`, `budget` or `approval`', byId: 'its id' },
  },
  'loop.warned': {
    stage: 'gate',
    where: 'worker',
    says: 'The run looks like a loop; the call goes on and the model is told.',
    fields: LOOP,
  },
  'loop.blocked': {
    stage: 'gate',
    where: 'worker',
    says: 'The run is a loop.',
    fields: { ...LOOP, blocks: 'what is stopped: this `call`, the `pattern`, or the `run`' },
  },
  'hook.failed': {
    stage: 'gate',
    where: 'worker',
    says: 'A hook did not answer as it must.',
    fields: {
      hook: 'its id',
      how: '`threw`, `timed-out`, `invalid-answer`, `not-started` or `exited`',
      error: 'category, retryable, HTTP status',
      ...TIMED,
    },
  },
  'approval.requested': {
    stage: 'gate',
    where: 'worker',
    says: 'A person is asked.',
    fields: {
      approvalId: 'the question',
      severity: '`info`, `warning` or `critical`',
      timeoutMs: 'how long there is to answer',
    },
  },
  'call.parked': {
    stage: 'gate',
    where: 'worker',
    says: 'Put aside until the answer is there. No worker holds it.',
    fields: { approvalId: 'the question it waits for', timeoutMs: 'how long it waits at most' },
  },
  'approval.resolved': {
    stage: 'gate',
    where: 'both',
    says: 'The question has its answer.',
    fields: {
      approvalId: 'the question',
      resolution: '`allow-once`, `allow-always`, `deny`, `timeout` or `cancelled`',
      durationMs: 'since it was asked',
    },
  },
  'tool.started': {
    stage: 'execute',
    where: 'worker',
    says: "The tool's code is entered. Exactly one `tool.completed` or `tool.failed` follows.",
    fields: {
      ...PARAMETERS,
      runner: '`inline`, `process`, or `wrapped`: run by the agent itself',
      effect: '`read`, `idempotent` or `unsafe`',
    },
  },
  'tool.completed': { stage: 'execute', where: 'worker', says: 'It ended `ok`.', fields: TIMED },
  'tool.failed': {
    stage: 'execute',
    where: 'worker',
    says: 'It threw, failed, was stopped, or returned what cannot be used.',
    fields: { ...ENDED, ...TIMED },
  },
  'call.abandoned': {
    stage: 'execute',
    where: 'worker',
    says: 'Given back for another worker: it serves the tool, or this one is leaving.',
    fields: { durationMs: 'since the worker had it' },
  },
  'call.lost': {
    stage: 'execute',
    where: 'worker',
    says: 'Somebody else owns it now; what this worker made of it is dropped.',
    fields: { durationMs: 'since the worker had it' },
  },
  'call.left': {
    stage: 'admit',
    where: 'worker',
    says: 'The worker could not go on with it. It is recovered when its lease runs out.',
    fields: { error: 'category, retryable, the code of the plane' },
  },
  'call.settled': {
    stage: 'settle',
    where: 'worker',
    says: 'Its one outcome is written, and every waiter is answered.',
    fields: { ...ENDED, durationMs: 'since the worker has it' },
  },
  'call.pending': {
    stage: 'answer',
    where: 'caller',
    says: 'The caller waits no longer. The call goes on, and its outcome can be asked for.',
    fields: { durationMs: 'since the call was made' },
  },
  'call.cancelled': {
    stage: 'accept',
    where: 'caller',
    says: 'Somebody asked to cancel it.',
    fields: {
      answer:
        '`cancelled` at once, `cancelling` (its worker is told), `settled` (too late) or `unknown` (no such call)',
    },
  },
  'call.expired': {
    stage: 'settle',
    where: 'worker',
    says: 'Ended by the reaper, because its time was up.',
    fields: { overdue: 'a worker had it and did not end it in time' },
  },
  'call.answered': {
    stage: 'answer',
    where: 'both',
    says: 'The waiter has the outcome. Also told by a worker whose tool made the call.',
    fields: { ...ENDED, durationMs: 'since the call was made' },
  },
  'events.lost': {
    where: 'listener',
    says: 'To one listener only: it was too slow or it threw, and so many of its events are gone.',
    fields: { lost: 'how many' },
  },
};

export const SHARED_FIELDS: { readonly [Field in keyof SharedFields]-?: string } = {
  stage: 'the stage of the data path',
  callId: 'the call',
  attemptId: "one worker's hold of it: `callId/fence`",
  tool: '`module.tool`; absent where the name is not one',
  agent: 'from the session; workers only',
  tenant: 'from the session; workers only',
  session: 'its id, which is no secret; never the token',
  run: 'its id',
  via: 'the door it came in by, `mcp` or `http`; callers only',
  trace: '`traceId`, `spanId` of the stage, `parentSpanId`, `sampled`; `begins` where the worker began the trace',
};

export const EVENT_KINDS = Object.keys(DIAGNOSTIC_EVENTS) as EventKind[];

const FIELDS = new Map(
  EVENT_KINDS.map((kind) => [kind, [...Object.keys(SHARED_FIELDS), ...Object.keys(DIAGNOSTIC_EVENTS[kind].fields)]]),
);

export function fieldsOf(kind: EventKind): readonly string[] {
  return FIELDS.get(kind) ?? [];
}
