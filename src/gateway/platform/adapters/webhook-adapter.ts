import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { planeError } from '../../../domain/errors/errors.ts';
import { findWebhookProblem } from '../../../base/http/webhook-url.ts';
import { MIN_SECRET_LENGTH } from '../../../base/http/signature.ts';
import { isWorthAnother, signedPost, type PostAnswer } from '../../../base/http/signed-post.ts';
import type {
  AdapterEffect,
  AdapterOperation,
  DeliveryResult,
  OperationResult,
  PlatformAdapter,
} from '../../../domain/ports/platform-adapter.ts';

export interface WebhookAdapterOptions {
  /** An https:// URL, or an http:// URL of this machine. */
  readonly url: string;
  /** Shared with the receiver. It is never sent and never logged. */
  readonly secret: string;
  /** Each `host:port` that may be reached although it is not on the public internet. */
  readonly allow?: readonly string[];
  /** Timeout of one attempt. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_ID_LENGTH = 256;
/** The only statuses that mean "not done, try again"; after any other status the operation may have been done. */
const NOT_DONE: readonly number[] = [429, 503];

/**
 * Sends everything to one URL, signed and with the effect's key; the receiver drops a key that it has already seen. The URL is checked like
 * one from an untrusted source, so that a name whose address changes cannot lead into the internal network.
 */
export function createWebhookAdapter(platform: string, options: WebhookAdapterOptions): PlatformAdapter {
  const { url, secret, allow = [], timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  checkOptions(platform, url, secret);
  const rules = { allow };

  function post(key: string, message: JsonObject, signal: AbortSignal): Promise<PostAnswer> {
    const headers = { 'sallyport-effect': key };
    const body = JSON.stringify(message);
    return signedPost({ url, secret, body, headers, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES }, rules, signal);
  }

  return {
    deduplicates: true,
    async deliver(effect, signal) {
      return readDelivery(await post(effect.key, effectMessage(platform, effect), signal));
    },
    async call(operation, signal) {
      return readAnswer(await post(operation.key, operationMessage(platform, operation), signal));
    },
  };
}

function checkOptions(platform: string, url: string, secret: string): void {
  const wrong = findWebhookProblem(url);
  const problems = wrong === undefined ? [] : [`platforms.${platform}.url ${wrong}`];
  if (secret.length < MIN_SECRET_LENGTH) {
    problems.push(`the secret of platforms.${platform} must have ${MIN_SECRET_LENGTH} characters or more`);
  }
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems });
}

/** The body contains `key`, too, because only the body is signed. */
function effectMessage(platform: string, { key, channel, origin, body, attempt }: AdapterEffect): JsonObject {
  return { event: 'platform.effect', key, platform, channel, attempt, ...aboutOf(origin), ...contentOf(body) };
}

function operationMessage(platform: string, asked: AdapterOperation): JsonObject {
  const { key, channel, origin, operation } = asked;
  return { event: 'platform.call', key, platform, channel, ...aboutOf(origin), operation, arguments: asked.arguments };
}

function aboutOf({ tenant, subject, agent, tool, space }: AdapterEffect['origin']): JsonObject {
  return { tenant, subject, agent, ...(tool === undefined ? {} : { tool }), ...(space === undefined ? {} : { space }) };
}

function contentOf(body: AdapterEffect['body']): JsonObject {
  if (body.kind !== 'file') return { ...body } as unknown as JsonObject;
  const { name, mediaType, bytes } = body.file;
  const file = { name, mediaType, base64: Buffer.from(bytes).toString('base64') };
  return { kind: 'file', file, ...(body.text === undefined ? {} : { text: body.text }) };
}

function readDelivery(answer: PostAnswer): DeliveryResult {
  if (answer.kind === 'unanswered') return { kind: answer.sent ? 'again' : 'refused', problem: answer.problem };
  const { status } = answer;
  if (status < 200 || status >= 300)
    return { kind: isWorthAnother(status) ? 'again' : 'refused', problem: `HTTP ${status}` };
  const said = readJson(answer.body);
  const messageId = isJsonObject(said) ? said['messageId'] : undefined;
  const usable = typeof messageId === 'string' && messageId !== '' && messageId.length <= MAX_ID_LENGTH;
  return usable ? { kind: 'delivered', messageId } : { kind: 'delivered' };
}

function readAnswer(answer: PostAnswer): OperationResult {
  if (answer.kind === 'unanswered') {
    return {
      kind: 'refused',
      problem: answer.sent ? `no answer (${answer.problem}); it may have been done` : answer.problem,
    };
  }
  const { status, body, cut } = answer;
  if (NOT_DONE.includes(status)) return { kind: 'again', problem: `HTTP ${status}` };
  if (status < 200 || status >= 300) return { kind: 'refused', problem: `HTTP ${status}` };
  if (cut) return { kind: 'refused', problem: `it was done, but its answer has more than ${MAX_ANSWER_BYTES} bytes` };
  if (body.length === 0) return { kind: 'answered', value: null };
  const value = readJson(body);
  return value === undefined
    ? { kind: 'refused', problem: 'it was done, but its answer is no JSON' }
    : { kind: 'answered', value };
}

function readJson(body: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}
