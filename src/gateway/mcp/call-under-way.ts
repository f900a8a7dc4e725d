import type { CallAnswer } from '../../client/call-answer.ts';
import type { Caller } from '../../client/known-sessions.ts';
import type { ApprovalId } from '../../domain/policy/approval.ts';
import type { CallEvent } from '../../domain/call/call-event.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { McpPlane } from './mcp-plane.ts';
import { pause } from '../../base/pause.ts';

/** Most calls are over before the first poll for a question. */
const LOOK_FIRST_MS = 40;
const MAX_LOOK_MS = 500;

export type CallStanding =
  | Exclude<CallAnswer, { readonly kind: 'pending' }>
  /** A person is asked about the call. */
  | { readonly kind: 'parked'; readonly callId: CallId; readonly approval: ApprovalId }
  /** The time to wait is over, and the call goes on. */
  | { readonly kind: 'pending'; readonly callId: CallId };

/** A call that was made or found. `next` reports what happens to it. */
export class CallUnderWay {
  readonly #client: McpPlane['client'];
  readonly #session: Caller;
  readonly #answer: Promise<CallAnswer>;
  #callId: CallId | undefined;
  #started = false;

  private constructor(
    client: McpPlane['client'],
    session: Caller,
    answer: (onEvent: (event: CallEvent) => void) => Promise<CallAnswer>,
    callId?: CallId,
  ) {
    this.#client = client;
    this.#session = session;
    this.#callId = callId;
    this.#answer = answer((event) => this.#onEvent(event));
    this.#answer.catch(() => undefined);
  }

  /** `answer` makes the call and passes its events to `onEvent`. */
  static made(
    client: McpPlane['client'],
    session: Caller,
    answer: (onEvent: (event: CallEvent) => void) => Promise<CallAnswer>,
  ): CallUnderWay {
    return new CallUnderWay(client, session, answer);
  }

  static found(
    client: McpPlane['client'],
    session: Caller,
    callId: string,
    options: { readonly waitMs: number; readonly signal: AbortSignal },
    first: () => Promise<void> = async () => undefined,
  ): CallUnderWay {
    const answer = (): Promise<CallAnswer> => first().then(() => client.wait(session, callId, options));
    return new CallUnderWay(client, session, answer, callId as CallId);
  }

  /** Resolves with the first of these: the end of the call, a question to a person (unless it was `seen`), or the end of the wait. */
  async next(seen?: ApprovalId): Promise<CallStanding> {
    const looking = new AbortController();
    try {
      return await Promise.race([this.#answer.then(toStanding), this.#lookForQuestion(looking.signal, seen)]);
    } finally {
      looking.abort();
    }
  }

  #onEvent(event: CallEvent): void {
    if (event.kind === 'queued') this.#callId = event.callId as CallId;
    // A person is asked only before a tool starts, so after the start there is no question to look for.
    if (event.kind === 'started') this.#started = true;
  }

  async #lookForQuestion(signal: AbortSignal, seen: ApprovalId | undefined): Promise<CallStanding> {
    for (let pauseMs = LOOK_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_LOOK_MS)) {
      await pause(pauseMs, signal);
      if (signal.aborted) return new Promise(() => undefined);
      if (this.#callId === undefined || this.#started) continue;
      const answer = await this.#client.result(this.#session, this.#callId).catch(() => undefined);
      if (answer?.kind !== 'pending' || answer.approval === undefined || answer.approval === seen) continue;
      return { kind: 'parked', callId: answer.callId, approval: answer.approval };
    }
  }
}

function toStanding(answer: CallAnswer): CallStanding {
  if (answer.kind !== 'pending') return answer;
  const { callId, approval } = answer;
  return approval === undefined ? { kind: 'pending', callId } : { kind: 'parked', callId, approval };
}
