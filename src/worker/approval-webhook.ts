import { planeError } from '../domain/errors/errors.ts';
import { findWebhookProblem } from '../base/http/webhook-url.ts';
import type { JsonObject } from '../base/json.ts';
import type { ApprovalNotifier } from '../domain/ports/approval-notifier.ts';
import type { Log } from '../domain/ports/log.ts';
import { MIN_SECRET_LENGTH } from '../base/http/signature.ts';
import { isWorthAnother, signedPost } from '../base/http/signed-post.ts';
import { requestedMessage, resolvedMessage } from './webhook-message.ts';
import { pause } from '../base/pause.ts';

export interface WebhookOptions {
  /** An https:// URL, or an http:// URL of this machine. */
  readonly url: string;
  /** Shared with the receiver; never sent, never logged. */
  readonly secret: string;
  /** Timeout of one attempt. */
  readonly timeoutMs?: number;
}

export interface WebhookPace {
  readonly attempts: number;
  /** Pause before the second attempt; doubled before each further one. */
  readonly backoffMs: number;
  readonly atOnce: number;
  /** Max queued messages; further ones are dropped. */
  readonly queued: number;
}

export interface ApprovalWebhook extends ApprovalNotifier {
  /** Accepts no more messages, waits up to `graceMs` for pending ones, and drops the rest. */
  close(graceMs: number): Promise<void>;
}

const PACE: WebhookPace = Object.freeze({ attempts: 4, backoffMs: 500, atOnce: 4, queued: 1000 });
const DEFAULT_TIMEOUT_MS = 5000;
/** Any address is allowed: only the operator can name the receiver, and it may be in an internal network. */
const ANY_ADDRESS = { allow: [], isPublic: () => true };
const LOG_EVERY = 100;
const TOO_SLOW = 'the approval webhook is too slow; not all is sent';

type Failure = { readonly problem: string; readonly again: boolean };

/**
 * Sends signed notifications for approvers to one address. A slow or broken receiver loses only its own messages and affects nothing else.
 */
export function createApprovalWebhook(
  { url, secret, timeoutMs = DEFAULT_TIMEOUT_MS }: WebhookOptions,
  log: Log,
  pace: WebhookPace = PACE,
): ApprovalWebhook {
  checkOptions(url, secret);
  // Log only the origin: the path may be a secret of the receiver.
  const receiver = new URL(url).origin;
  const waiting: JsonObject[] = [];
  const stop = new AbortController();
  const idleListeners = new Set<() => void>();
  let [running, dropped, closed] = [0, 0, false];

  function submit(message: JsonObject): void {
    if (closed) return;
    if (running < pace.atOnce) return start(message);
    if (waiting.length < pace.queued) return void waiting.push(message);
    dropped += 1;
    if (dropped % LOG_EVERY === 1) log.warn({ stage: 'gate', receiver, dropped }, TOO_SLOW);
  }

  function start(message: JsonObject): void {
    running += 1;
    // deliver never rejects.
    void deliver(message).then(onEnd);
  }

  function onEnd(): void {
    running -= 1;
    const next = waiting.shift();
    if (next !== undefined) start(next);
    else if (running === 0) for (const notify of idleListeners) notify();
  }

  async function deliver(message: JsonObject): Promise<void> {
    const body = JSON.stringify(message);
    for (let attempt = 1; ; attempt += 1) {
      const failure = await post(body);
      if (failure === undefined) return;
      if (stop.signal.aborted || !failure.again || attempt >= pace.attempts) {
        const { event, approvalId } = message;
        const { problem } = failure;
        const facts = { stage: 'gate', receiver, event, approval: approvalId, attempts: attempt, problem };
        return log.warn(facts, 'the approval webhook was not told');
      }
      await pause(pace.backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2), stop.signal);
    }
  }

  async function post(body: string): Promise<Failure | undefined> {
    const answer = await signedPost({ url, secret, body, timeoutMs, maxAnswerBytes: 0 }, ANY_ADDRESS, stop.signal);
    if (answer.kind === 'unanswered') return { problem: answer.problem, again: true };
    const { status } = answer;
    return status >= 200 && status < 300 ? undefined : { problem: `HTTP ${status}`, again: isWorthAnother(status) };
  }

  return {
    requested: ({ question, expiresAt }) => submit(requestedMessage(question, expiresAt)),
    resolved: (approval) => submit(resolvedMessage(approval)),
    async close(graceMs) {
      closed = true;
      if (running === 0) return;
      const idle = new Promise<void>((resolve) => idleListeners.add(resolve));
      const timer = setTimeout(() => {
        const unsent = waiting.splice(0).length;
        if (unsent > 0)
          log.warn({ stage: 'gate', receiver, unsent }, 'the approval webhook was not told of everything');
        stop.abort();
      }, graceMs);
      await idle;
      clearTimeout(timer);
    },
  };
}

function checkOptions(url: string, secret: string): void {
  const wrong = findWebhookProblem(url);
  const problems = wrong === undefined ? [] : [`approvals.webhook.url ${wrong}`];
  if (secret.length < MIN_SECRET_LENGTH) {
    problems.push(`the secret of approvals.webhook must have ${MIN_SECRET_LENGTH} characters or more`);
  }
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems });
}
