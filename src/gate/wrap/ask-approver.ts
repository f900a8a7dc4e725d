import { APPROVAL_DECISIONS, APPROVAL_LIMITS } from '../../domain/policy/approval.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { StopSignal } from '../../domain/ports/tool-runner.ts';
import type { ApprovalEnding, EndingFacts } from '../approvals/endings.ts';
import { oneLine, showCause } from '../hooks/show-cause.ts';
import type { GateApprover, GateQuestion } from './gate-parts.ts';

/** How a question ended. The id is empty if the question never got one. */
export interface AskedEnding {
  readonly approvalId: string;
  readonly ending: ApprovalEnding;
  readonly facts?: EndingFacts;
}

/**
 * Asks the approver and waits. The call may run only after an `allow-once` or `allow-always` that the question offered, that names exactly
 * this question, and that came in time. Never throws.
 */
export async function askApprover(
  approver: GateApprover,
  question: GateQuestion,
  stop: StopSignal | undefined,
  { log, onAsked }: { readonly log: Log; readonly onAsked: (approvalId: string) => void },
): Promise<AskedEnding> {
  let approvalId = '';
  try {
    const receipt: unknown = await untilStopped(Promise.resolve(approver.request(question)), question, stop, () => {});
    if (receipt === STOPPED) return { approvalId, ending: 'caller-aborted' };
    if (receipt === LATE) return { approvalId, ending: 'timeout' };
    const { id, ...answer } = (receipt ?? {}) as { id?: unknown; decision?: unknown };
    if (typeof id !== 'string' || id === '') return { approvalId, ending: 'no-id' };
    approvalId = id;
    onAsked(id);
    if (answer.decision === null) return { approvalId, ending: 'no-route' };
    if (answer.decision !== undefined) return judge(answer, question, id);
    return await waitFor(approver, question, id, stop);
  } catch (error) {
    const { callId, tool } = question;
    log.error({ stage: 'gate', callId, tool, cause: showCause(error) }, 'nobody could be asked');
    return { approvalId, ending: 'gateway-unavailable' };
  }
}

const STOPPED = Symbol('stopped');
const LATE = Symbol('late');

async function waitFor(
  approver: GateApprover,
  question: GateQuestion,
  approvalId: string,
  stop: StopSignal | undefined,
): Promise<AskedEnding> {
  const controller = new AbortController();
  const waiting = approver.wait(approvalId, { signal: controller.signal });
  const answer: unknown = await untilStopped(waiting, question, stop, (why) => controller.abort(why));
  if (answer === STOPPED) return { approvalId, ending: 'caller-aborted' };
  if (answer === LATE) return { approvalId, ending: 'timeout' };
  const { id, decision, comment } = (answer ?? {}) as { id?: unknown; decision?: unknown; comment?: unknown };
  if (id !== approvalId) return { approvalId, ending: 'mismatch', facts: { what: 'the question' } };
  return decision === null ? { approvalId, ending: 'timeout' } : judge({ decision, comment }, question, approvalId);
}

function judge(
  { decision, comment }: { readonly decision?: unknown; readonly comment?: unknown },
  { decisions }: GateQuestion,
  approvalId: string,
): AskedEnding {
  const known = APPROVAL_DECISIONS.find((word) => word === decision);
  if (known === undefined || !decisions.includes(known)) return { approvalId, ending: 'malformed-decision' };
  if (known !== 'deny' || typeof comment !== 'string') return { approvalId, ending: known };
  return { approvalId, ending: known, facts: { comment: oneLine(comment, APPROVAL_LIMITS.commentLength) } };
}

/** Waits for the approver until the call is stopped or the question times out. A later answer is ignored. */
function untilStopped(
  waiting: Promise<unknown>,
  { timeoutMs }: GateQuestion,
  stop: StopSignal | undefined,
  onEnd: (why: unknown) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (act: () => void): void => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onStop);
      act();
    };
    const giveUp = (answer: symbol, why: unknown): void =>
      end(() => {
        resolve(answer);
        onEnd(why);
      });
    const onStop = (): void => giveUp(STOPPED, stop?.reason);
    const timer = setTimeout(() => giveUp(LATE, new Error(`nobody decided within ${timeoutMs} ms`)), timeoutMs);
    stop?.addEventListener('abort', onStop, { once: true });
    waiting.then(
      (answer) => end(() => resolve(answer)),
      (error: unknown) => end(() => reject(error as Error)),
    );
    if (stop?.aborted === true) onStop();
  });
}
