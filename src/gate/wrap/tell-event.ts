import type {
  BlockedBy,
  DiagnosticEventMap,
  EventFacts,
  EventKind,
  SharedFields,
} from '../../domain/diagnostic-event.ts';
import { elapsedMs } from '../../domain/elapsed.ts';
import { errorOfOutcome, toEventError } from '../../domain/error-category.ts';
import { DIAGNOSTIC_EVENTS } from '../../domain/event-table.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { summariseValue } from '../../domain/summarise-value.ts';
import type { LoopVerdict } from '../loop/loop-verdict.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GatedCall, GateParts } from './gate-parts.ts';

type Needs = Pick<GateParts, 'events'>;

/** The events of a worker, for calls that run here. What they say is put together only where somebody listens. */
export function tellEvent<Kind extends EventKind>(
  kind: Kind,
  { callId, session, run, identity, tool }: GatedCall,
  { events }: Needs,
  facts: () => DiagnosticEventMap[Kind],
): void {
  if (events?.wants(kind) !== true) return;
  const { agent, tenant } = identity;
  const shared = { stage: DIAGNOSTIC_EVENTS[kind].stage, callId, tool: tool.id, agent, tenant, session, run };
  events.emit(kind, facts() as EventFacts<Kind>, shared as SharedFields);
}

export function tellLoop(call: GatedCall, loop: LoopVerdict, needs: Needs): void {
  if (loop.kind === 'pass') return;
  const { detector, count } = loop;
  if (loop.kind === 'warn') tellEvent('loop.warned', call, needs, () => ({ detector, count }));
  else tellEvent('loop.blocked', call, needs, () => ({ detector, count, blocks: loop.scope }));
}

export function tellBlocked(call: GatedCall, { outcome, by: decidedBy, failedHook }: Refusal, needs: Needs): void {
  tellEvent('tool.blocked', call, needs, () => {
    const by = blockedBy(outcome.error?.code ?? '');
    const byId = decidedBy ?? failedHook;
    return { ...endOf(outcome), ...(by === undefined ? {} : { by }), ...(byId === undefined ? {} : { byId }) };
  });
}

export function tellStarted(call: GatedCall, canonical: string, needs: Needs): void {
  tellEvent('tool.started', call, needs, () => ({
    parameters: summariseValue(call.arguments, canonical),
    runner: 'wrapped',
    effect: call.tool.effect,
  }));
}

export function tellEnded(call: GatedCall, outcome: Outcome, startedAt: number, needs: Needs): void {
  const durationMs = elapsedMs(startedAt);
  if (outcome.kind === 'ok') tellEvent('tool.completed', call, needs, () => ({ durationMs }));
  else tellEvent('tool.failed', call, needs, () => ({ ...endOf(outcome), durationMs }));
}

function endOf(outcome: Outcome) {
  const { kind, executed } = outcome;
  return { outcome: kind, executed, error: errorOfOutcome(outcome) ?? toEventError('internal') };
}

function blockedBy(code: string): BlockedBy | undefined {
  if (code === 'RULE_DENIED') return 'rule';
  if (code === 'BUDGET_SPENT') return 'budget';
  if (code === 'LOOP_BLOCKED' || code === 'RUN_ENDED_BY_LOOP') return 'loop';
  if (code.startsWith('HOOK_')) return 'hook';
  return code.startsWith('APPROVAL_') ? 'approval' : undefined;
}
