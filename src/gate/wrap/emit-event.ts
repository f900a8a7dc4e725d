import type {
  BlockedBy,
  DiagnosticEventMap,
  EventFacts,
  EventKind,
  SharedFields,
} from '../../domain/events/diagnostic-event.ts';
import { elapsedMs } from '../../base/elapsed.ts';
import { errorOfOutcome, toEventError, type Fault } from '../../domain/outcome/error-category.ts';
import { DIAGNOSTIC_EVENTS } from '../../domain/events/event-table.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { JsonObject } from '../../base/json.ts';
import { summariseValue } from '../../domain/events/summarise-value.ts';
import type { LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';

type Needs = Pick<GateParts, 'events' | 'log'>;

interface JudgedArguments {
  readonly arguments: JsonObject;
  readonly canonical: string;
}

/** Emits the same event as a worker would, for a call that runs in this process. Its facts are computed only if there is a listener. */
export function emitEvent<Kind extends EventKind>(
  kind: Kind,
  { callId, session, run, identity, tool, spans }: GatedCall,
  { events }: Pick<GateParts, 'events'>,
  facts: () => DiagnosticEventMap[Kind],
): void {
  if (events?.wants(kind) !== true) return;
  const { agent, tenant } = identity;
  const { stage } = DIAGNOSTIC_EVENTS[kind];
  const trace = spans === undefined || stage === undefined || !events.spans ? {} : { trace: spans.idsOf(stage) };
  const shared = { stage, callId, tool: tool.id, agent, tenant, session, run, ...trace };
  events.emit(kind, facts() as EventFacts<Kind>, shared as SharedFields);
}

export function reportLoop(call: GatedCall, loop: LoopVerdict, needs: Needs): void {
  if (loop.kind === 'pass') return;
  const { detector, count } = loop;
  const facts = { stage: 'gate', callId: call.callId, tool: call.tool.id, run: call.run, detector, count };
  if (loop.kind === 'warn') {
    emitEvent('loop.warned', call, needs, () => ({ detector, count }));
    needs.log.warn(facts, 'the run looks like a loop; the call goes on with advice');
    return;
  }
  emitEvent('loop.blocked', call, needs, () => ({ detector, count, blocks: loop.scope }));
  // The end of the run was logged when it happened. Each later call that is refused because of it only emits an event.
  if (detector !== 'ended') needs.log.warn({ ...facts, blocks: loop.scope }, 'a call was blocked as part of a loop');
}

export function emitBlocked(call: GatedCall, { outcome, by: decidedBy, failedHook }: Refusal, needs: Needs): void {
  emitEvent('tool.blocked', call, needs, () => {
    const by = blockedBy(outcome.error?.code ?? '');
    const byId = decidedBy ?? failedHook;
    return { ...endOf(outcome), ...(by === undefined ? {} : { by }), ...(byId === undefined ? {} : { byId }) };
  });
}

export function emitStarted(call: GatedCall, { arguments: args, canonical }: JudgedArguments, needs: Needs): void {
  emitEvent('tool.started', call, needs, () => ({
    parameters: canonical === call.canonical ? call.parameters : summariseValue(args, canonical),
    runner: 'wrapped',
    effect: call.tool.effect,
  }));
}

/** Emits `tool.completed` or `tool.failed`. `fault` is the category and HTTP status that were read from the failure itself. */
export function emitEnded(
  call: GatedCall,
  outcome: Outcome,
  fault: Fault | undefined,
  startedAt: number,
  needs: Needs,
): void {
  const durationMs = elapsedMs(startedAt);
  if (outcome.kind === 'ok') emitEvent('tool.completed', call, needs, () => ({ durationMs }));
  else emitEvent('tool.failed', call, needs, () => ({ ...endOf(outcome, fault), durationMs }));
}

function endOf(outcome: Outcome, fault?: Fault) {
  const { kind, executed } = outcome;
  return { outcome: kind, executed, error: errorOfOutcome(outcome, fault) ?? toEventError('internal') };
}

function blockedBy(code: string): BlockedBy | undefined {
  if (code === 'RULE_DENIED') return 'rule';
  if (code === 'BUDGET_SPENT') return 'budget';
  if (code === 'LOOP_BLOCKED' || code === 'RUN_ENDED_BY_LOOP') return 'loop';
  if (code.startsWith('HOOK_')) return 'hook';
  return code.startsWith('APPROVAL_') ? 'approval' : undefined;
}
