import type { RunHistory } from '../../domain/attempt.ts';
import type { Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { settingsFor } from '../../domain/loop-settings.ts';
import { detectLoop } from '../../gate/loop/detect-loop.ts';
import { factsOfBlock, type LoopBlock, type LoopVerdict } from '../../gate/loop/loop-verdict.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Delivery } from '../../ports/call-store.ts';
import type { CallEmitter } from '../../ports/events.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import { NO_HISTORY, openHistory, shortSignature, toolTag } from '../../wire/history.ts';
import { refuse } from './refuse.ts';

export interface LoopedCall {
  readonly delivery: Delivery;
  readonly policy: Policy;
  readonly agent: string;
  /** The declaration, or only the id of a tool that does not exist. */
  readonly tool: { readonly id: string } & Partial<Pick<ToolDeclaration, 'poll' | 'cost'>>;
}

/** The attempts of the run before this one, as far as the store saw a reason to send them. */
export function historyOf({ history, runState }: Delivery): RunHistory {
  return history === undefined ? NO_HISTORY : openHistory(history, runState.sequence);
}

export function judgeLoop(
  { delivery, policy, agent, tool }: LoopedCall,
  history: RunHistory,
  effectiveDigest?: string,
): LoopVerdict {
  return detectLoop({
    history,
    run: delivery.runState,
    attempt: {
      tool: toolTag(tool.id),
      raw: shortSignature(delivery.bodyDigest),
      at: delivery.acceptedAt,
      ...(effectiveDigest === undefined ? {} : { effective: shortSignature(effectiveDigest) }),
    },
    settings: settingsFor(policy.loops, agent),
    tool,
  });
}

export function blockedByLoop(block: LoopBlock, events: CallEmitter | undefined): Ending {
  const { detector, count, scope, code } = block;
  events?.emit('loop.blocked', { detector, count, blocks: scope });
  const outcome = trouble(code, factsOfBlock(block) as { message: string });
  return refuse(outcome, events, code === 'BUDGET_SPENT' ? 'budget' : 'loop', detector);
}
