import { APPROVAL_DECISIONS, type ApprovalDecision, type Resolution } from '../../domain/approval.ts';
import type { Log } from '../../ports/log.ts';
import type { StopSignal } from '../../ports/tool-runner.ts';
import { showCause } from '../hooks/show-cause.ts';
import type { Refusal } from './gate-blocked.ts';
import type { GateApprover, GateQuestion } from './gate-parts.ts';

export interface ApprovalEnding {
  readonly approvalId: string;
  readonly resolution: Resolution;
  /** Absent: it may run. */
  readonly refusal?: Refusal;
}

const FINAL = 'It did not run. This is final: do not try it again, and do not look for a way around it.';

/** Every ending that is no yes, each with its own code and sentence. */
const ENDINGS = {
  APPROVAL_DENIED: ['deny', 'A person was asked about this call and said no.'],
  APPROVAL_EXPIRED: ['timeout', 'A person was asked about this call and nobody decided in time.'],
  APPROVAL_ABORTED: ['cancelled', 'The call was cancelled while a person was asked about it.'],
  APPROVAL_NO_ROUTE: ['cancelled', "This call needs a person's approval, and there is nobody who could give it."],
  APPROVAL_NOT_ASKED: ['cancelled', "This call needs a person's approval, and the question could not be registered."],
  APPROVAL_UNAVAILABLE: [
    'cancelled',
    "This call needs a person's approval, and those who ask people could not be reached.",
  ],
  APPROVAL_MALFORMED: ['cancelled', "This call needs a person's approval, and the answer was none of those offered."],
  APPROVAL_MISMATCH: ['cancelled', "This call needs a person's approval, and the answer was for another question."],
} as const satisfies Readonly<Record<string, readonly [Resolution, string]>>;
type EndingCode = keyof typeof ENDINGS;

/** Nobody was configured to be asked. */
export function unaskable(): ApprovalEnding {
  return ending('APPROVAL_NO_ROUTE', '');
}

/** Asks and waits. Only a yes that was offered, for this very question and in time, lets the call run; this never throws. */
export async function askApprover(
  approver: GateApprover,
  question: GateQuestion,
  stop: StopSignal | undefined,
  log: Log,
): Promise<ApprovalEnding> {
  const unreachable = (error: unknown, id: string): ApprovalEnding => {
    log.error({ callId: question.callId, tool: question.tool, cause: showCause(error) }, 'nobody could be asked');
    return ending('APPROVAL_UNAVAILABLE', id);
  };
  let id = '';
  try {
    const receipt: unknown = await untilStopped(Promise.resolve(approver.request(question)), question, stop, () => {});
    if (receipt === STOPPED) return ending('APPROVAL_ABORTED', id);
    if (receipt === LATE) return ending('APPROVAL_EXPIRED', id);
    const { id: given, decision } = (receipt ?? {}) as { id?: unknown; decision?: unknown };
    if (typeof given !== 'string' || given === '') return ending('APPROVAL_NOT_ASKED', id);
    id = given;
    if (decision === null) return ending('APPROVAL_NO_ROUTE', id);
    if (decision !== undefined) return judge(decision, question, id);
    return await waitFor(approver, question, id, stop);
  } catch (error) {
    return unreachable(error, id);
  }
}

const STOPPED = Symbol('stopped');
const LATE = Symbol('late');

async function waitFor(
  approver: GateApprover,
  question: GateQuestion,
  id: string,
  stop: StopSignal | undefined,
): Promise<ApprovalEnding> {
  const controller = new AbortController();
  const waiting = approver.wait(id, { signal: controller.signal });
  const answer: unknown = await untilStopped(waiting, question, stop, (why) => controller.abort(why));
  if (answer === STOPPED) return ending('APPROVAL_ABORTED', id);
  if (answer === LATE) return ending('APPROVAL_EXPIRED', id);
  const { id: answered, decision } = (answer ?? {}) as { id?: unknown; decision?: unknown };
  if (answered !== id) return ending('APPROVAL_MISMATCH', id);
  return decision === null ? ending('APPROVAL_EXPIRED', id) : judge(decision, question, id);
}

function judge(decision: unknown, { decisions }: GateQuestion, id: string): ApprovalEnding {
  const known = APPROVAL_DECISIONS.find((word) => word === decision);
  if (known === undefined || !decisions.includes(known)) return ending('APPROVAL_MALFORMED', id);
  return known === 'deny'
    ? ending('APPROVAL_DENIED', id)
    : { approvalId: id, resolution: known satisfies ApprovalDecision };
}

/** What comes after the stop or the time is heard by nobody. */
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

function ending(code: EndingCode, approvalId: string): ApprovalEnding {
  const [resolution, says] = ENDINGS[code];
  const kind = code === 'APPROVAL_ABORTED' ? 'cancelled' : 'denied';
  return { approvalId, resolution, refusal: { code, kind, reason: `${says} ${FINAL}` } };
}
