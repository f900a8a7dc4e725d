import type { WebRules } from './check-target.ts';
import { guardedRequest } from './guarded-request.ts';
import { signatureHeaders } from './signature.ts';
import { WebRefusal } from './web-refusal.ts';

export interface SignedPost {
  readonly url: string;
  readonly secret: string;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of the answer; what is beyond is not read. */
  readonly maxAnswerBytes: number;
}

export type PostAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer; readonly cut: boolean }
  /** `sent`: it may have reached the receiver. The problem is a code, never an address. */
  | { readonly kind: 'unanswered'; readonly problem: string; readonly sent: boolean };

/**
 * One signed request to a receiver that the operator named. Each has a signature of its own: a late one must not look like a recorded
 * one. Redirects are not followed: they would carry the message to an address that nobody configured.
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
  // Linked by hand: AbortSignal.any keeps a trace of every request in Node 20.
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const answer = await guardedRequest(
      { url, method: 'POST', headers, body },
      { ...rules, maxBytes: post.maxAnswerBytes },
      ending.signal,
      { mostRedirects: 0 },
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

/** Answers that another attempt could change. */
export function isWorthAnother(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** Without the message: it can hold the address. */
function problemOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof WebRefusal ? error.code : name;
}
