import type { WebRules } from './check-target.ts';
import { guardedRequest } from './guarded-request.ts';
import { signatureHeaders } from './signature.ts';
import { WebRefusal } from './web-refusal.ts';

export interface SignedPost {
  readonly url: string;
  readonly secret: string;
  /** The body, as JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Max bytes of the answer; the rest is not read. */
  readonly maxAnswerBytes: number;
}

export type PostAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer; readonly cut: boolean }
  /** `sent`: the request may have reached the receiver. The problem is a code and never contains an address. */
  | { readonly kind: 'unanswered'; readonly problem: string; readonly sent: boolean };

/**
 * Sends one signed request to a receiver that the operator configured. Each attempt is signed with the time at which it is sent: a receiver
 * rejects a request with an old time, because it could be a recorded request that is replayed. Redirects are not followed: they would carry
 * the message to an address that the operator did not configure.
 */
export async function signedPost(post: SignedPost, rules: WebRules, signal: AbortSignal): Promise<PostAnswer> {
  const { url, secret, body, timeoutMs } = post;
  const headers = {
    'content-type': 'application/json',
    ...post.headers,
    ...signatureHeaders(secret, body, Date.now()),
  };
  const ending = new AbortController();
  const stop = (): void => ending.abort(signal.reason);
  const timer = setTimeout(
    () => ending.abort(new DOMException('The receiver took too long.', 'TimeoutError')),
    timeoutMs,
  );
  // The signals are linked by hand: on Node 20, AbortSignal.any keeps a trace of every request.
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const answer = await guardedRequest(
      { url, method: 'POST', headers, body },
      { ...rules, maxBytes: post.maxAnswerBytes },
      ending.signal,
      { maxRedirects: 0 },
    );
    return { kind: 'answered', status: answer.httpStatus, body: answer.bytes, cut: answer.cut };
  } catch (error) {
    const refused = error instanceof WebRefusal && error.code !== 'NO_ANSWER';
    return { kind: 'unanswered', problem: problemOf(error), sent: !refused };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Whether a request that was answered with this status should be sent again: the receiver may accept it later. */
export function isWorthAnother(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** A short name of the problem. The error's message is not used: it can contain the address. */
function problemOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof WebRefusal ? error.code : name;
}
