import type { RunHistory } from '../../domain/call/attempt.ts';
import type { Ending } from '../../domain/call/ending.ts';
import type { JsonObject } from '../../base/json.ts';
import { settingsFor } from '../../domain/policy/loop-settings.ts';
import { argumentSignatures, targetSignature } from '../../gate/loop/argument-signature.ts';
import { detectLoop } from '../../gate/loop/detect-loop.ts';
import type { AskedAttempt } from '../../gate/loop/loop-window.ts';
import { type LoopBlock, type LoopVerdict, type LoopWarning, PASS } from '../../domain/policy/loop-verdict.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Delivery } from '../../domain/ports/call-requests.ts';
import type { CallEmitter } from '../../domain/ports/events.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { NO_HISTORY, openHistory, shortSignature, toolTag } from '../../domain/call/history.ts';
import type { RuleDecision } from '../../domain/policy/rule-decision.ts';
import { objectionOfRule } from '../../gate/judge.ts';
import { compileRules } from '../../gate/rules/compile-rules.ts';
import { decideByRules } from '../../gate/rules/decide-by-rules.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { endByObjection } from './verdict.ts';

export interface LoopedCall {
  readonly delivery: Delivery;
  readonly policy: Policy;
  readonly agent: string;
  /** The declaration, or only the id if the tool does not exist. */
  readonly tool: { readonly id: string } & Partial<Pick<ToolDeclaration, 'poll' | 'cost' | 'effect'>>;
}

/** The current arguments, and the canonical JSON that the caller sent. They may differ, for example after a hook changed them. */
export interface LoopedArguments {
  readonly arguments: JsonObject;
  readonly canonical: string;
  readonly sent: string;
}

/** The run's earlier attempts, if the store sent them with the delivery. */
export function historyOf({ history, runState }: Delivery): RunHistory {
  return history === undefined ? NO_HISTORY : openHistory(history, runState.sequence);
}

export function judgeLoop(
  { delivery, policy, agent, tool }: LoopedCall,
  history: RunHistory,
  given?: LoopedArguments,
): LoopVerdict {
  // Without earlier attempts there is nothing to compare with, so the signatures are not computed.
  const known =
    given === undefined || history.length === 0 ? undefined : signaturesOf(tool, given, delivery.runState.toolSequence);
  return detectLoop({
    history,
    run: delivery.runState,
    attempt: {
      tool: toolTag(tool.id),
      raw: shortSignature(delivery.bodyDigest),
      at: delivery.acceptedAt,
      ...known,
    },
    settings: settingsFor(policy.loops, agent),
    tool,
  });
}

function signaturesOf(
  tool: LoopedCall['tool'],
  { arguments: args, canonical, sent }: LoopedArguments,
  toolSequence: number,
): Pick<AskedAttempt, 'effective' | 'hasVolatile' | 'target'> {
  const target = targetSignature(tool, args, toolSequence);
  const signatures = argumentSignatures(tool, args, canonical === sent ? undefined : canonical);
  return target === undefined ? signatures : { ...signatures, target };
}

/** Emits the event for a warning or a block. The model reads the message of a warning as `advice` in the outcome. */
export function reportLoop(loop: LoopWarning | LoopBlock, events: CallEmitter | undefined): void {
  const { detector, count } = loop;
  if (loop.kind === 'warn') events?.emit('loop.warned', { detector, count });
  else events?.emit('loop.blocked', { detector, count, blocks: loop.scope });
}

const NO_RULES: RuleDecision = Object.freeze({ verdict: 'allow', by: 'unmatched', matched: [], askers: [] });

export function judgeRules({ admitted, tool, identity }: IdentifiedCall, args: JsonObject): RuleDecision {
  const { policy } = admitted;
  if (policy.rules === undefined && policy.unmatched === undefined) return NO_RULES;
  return decideByRules(compileRules(policy), { tool: tool.declaration, identity, policy, arguments: args });
}

export function deniedByRule(
  { tool, admitted }: IdentifiedCall,
  decision: RuleDecision,
  loop: LoopVerdict = PASS,
): Ending {
  return endByObjection(objectionOfRule({ tool: tool.declaration }, decision, loop), admitted.events);
}
