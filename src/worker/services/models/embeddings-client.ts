import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceHealth } from '../../../domain/tool/service.ts';
import type { Log } from '../../../domain/ports/log.ts';
import type { Embedder } from '../search/embedder.ts';
import { ServiceFailure } from '../service-failure.ts';
import { readEmbeddings } from './read-embeddings.ts';

export interface EmbeddingsSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
  readonly dimensions?: number | undefined;
  /** Max texts in one request. */
  readonly batch: number;
  /** Time limit of one request. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

export interface EmbeddingsClient extends Embedder {
  health(): Omit<ServiceHealth, 'service'>;
  close(): void;
}

const FIRST_BACK_OFF_MS = 250;
const MAX_BACK_OFF_MS = 10_000;

/** Why one attempt failed. `retryAfterMs` is the wait that the server asked for. */
class Attempt extends Error {
  readonly canRetry: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(problem: string, canRetry: boolean, retryAfterMs?: number) {
    super(problem);
    this.canRetry = canRetry;
    this.retryAfterMs = retryAfterMs;
  }
}

export function createEmbeddingsClient(settings: EmbeddingsSettings, log: Log): EmbeddingsClient {
  const { model, dimensions, batch, retries } = settings;
  const address = `${settings.baseUrl.replace(/\/+$/, '')}/embeddings`;
  const closing = new AbortController();
  let lastProblem: string | undefined;

  async function send(input: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const request = { model, input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
    let response: Response;
    try {
      response = await fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` }),
        },
        body: JSON.stringify(request),
        // Attack: a redirect would send the API key and the texts to a server that the redirect names.
        redirect: 'error',
        signal,
      });
    } catch (error) {
      throw new Attempt(`the request failed: ${causeOf(error)}`, true);
    }
    if (!response.ok) {
      await response.body?.cancel().catch(() => undefined);
      const canRetry = response.status === 429 || response.status >= 500;
      throw new Attempt(`status ${response.status}`, canRetry, retryAfterMs(response));
    }
    const read = await readEmbeddings(response, {
      count: input.length,
      maxBytes: settings.maxResponseBytes,
      dimensions,
    });
    if (read.kind === 'problem') throw new Attempt(read.problem, read.canRetry);
    return read.vectors;
  }

  /** Sends one request with its own time limit. `given` is the caller's signal. */
  async function attempt(input: readonly string[], given: AbortSignal | undefined): Promise<number[][]> {
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    const timer = setTimeout(stop, settings.timeoutMs);
    const signals = [given, closing.signal].filter((signal) => signal !== undefined);
    for (const signal of signals) signal.addEventListener('abort', stop, { once: true });
    if (signals.some(({ aborted }) => aborted)) stop();
    try {
      return await send(input, controller.signal);
    } finally {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', stop);
    }
  }

  async function embedBatch(input: readonly string[], signal: AbortSignal | undefined): Promise<number[][]> {
    for (let tries = 0; ; tries += 1) {
      try {
        const vectors = await attempt(input, signal);
        lastProblem = undefined;
        return vectors;
      } catch (error) {
        if (signal?.aborted === true || closing.signal.aborted) throw stopped();
        const { message, canRetry, retryAfterMs: requestedMs } = error as Attempt;
        lastProblem = message;
        if (!(error instanceof Attempt) || !canRetry || tries >= retries) {
          log.warn({ model, tries: tries + 1, problem: message }, 'embeddings were not made');
          throw new ServiceFailure('MODEL_FAILED', 'The embeddings model does not answer now.', error);
        }
        const backOffMs = Math.min(FIRST_BACK_OFF_MS * 2 ** tries, MAX_BACK_OFF_MS);
        // Half of the wait is random: workers that failed at the same time should not retry at the same time.
        const waitMs = Math.min(requestedMs ?? backOffMs * (0.5 + Math.random() / 2), MAX_BACK_OFF_MS);
        await pause(waitMs, undefined, { signal: signal ?? closing.signal }).catch(() => {
          throw stopped();
        });
      }
    }
  }

  return {
    model: `${model} ${dimensions ?? ''}`.trim(),
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (let start = 0; start < texts.length; start += batch) {
        // Servers reject empty texts.
        const input = texts.slice(start, start + batch).map((text) => (text.trim() === '' ? ' ' : text));
        vectors.push(...(await embedBatch(input, signal)));
      }
      return vectors;
    },
    health: () =>
      lastProblem === undefined
        ? { state: 'ok' }
        : { state: 'degraded', detail: `the last request failed: ${lastProblem}` },
    close: () => closing.abort(),
  };
}

function stopped(): ServiceFailure {
  return new ServiceFailure('SERVICE_TIMED_OUT', 'The embeddings model did not answer in time.');
}

/** Reads the `retry-after` header if it is in seconds. A date gives undefined. */
function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** Returns the reason that `fetch` hides behind "fetch failed". Never returns the address: it may be private. */
function causeOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown; message?: string } };
  if (name === 'AbortError') return 'no answer in time';
  return typeof cause?.code === 'string' ? cause.code : (cause?.message ?? name ?? 'unknown');
}
