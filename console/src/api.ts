import { signal } from '@preact/signals';
import type { Me, ProblemBody } from './api-types.ts';

/** An error response, or no response at all (`UNREACHABLE`). */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string | undefined;
  readonly body: Partial<ProblemBody>;

  constructor(status: number, body: Partial<ProblemBody>) {
    super(body.detail ?? body.title ?? `The gateway answered ${status}.`);
    this.status = status;
    this.code = body.code ?? `HTTP_${status}`;
    this.fix = body.fix;
    this.body = body;
  }
}

/** Who is signed in. `unknown`: the gateway was not asked yet. `nobody`: no person is signed in. */
export const who = signal<Me | 'unknown' | 'nobody'>('unknown');

/** The gateway's time minus this browser's time in milliseconds, from the gateway's `Date` headers. Countdowns of approvals use it. */
export const clockOffsetMs = signal(0);

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal;
}

export const api = {
  get: <T>(path: string, options: RequestOptions = {}): Promise<T> => send<T>('GET', path, undefined, options),
  post: <T>(path: string, body: unknown = {}, options: RequestOptions = {}): Promise<T> =>
    send<T>('POST', path, body, options),
  put: <T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> =>
    send<T>('PUT', path, body, options),
  delete: <T>(path: string, options: RequestOptions = {}): Promise<T> => send<T>('DELETE', path, undefined, options),
};

/** Builds a path of the API and encodes the inserted values. Nothing in the page's own address can change the host of the request. */
export function apiPath(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((path, part, index) => {
    const value = values[index - 1];
    return `${path}${value === undefined ? '' : encodeURIComponent(value)}${part}`;
  }, '');
}

export function withQuery(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return path;
  return `${path}?${new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** Asks the gateway who is signed in. Does not throw if the answer is 401: then no person is signed in. */
export async function askWho(): Promise<void> {
  try {
    who.value = await api.get<Me>('/v1/me');
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
  }
}

async function send<T>(
  method: string,
  path: string,
  body: unknown,
  { query, signal: abort }: RequestOptions,
): Promise<T> {
  const response = await reach(withQuery(path, query), {
    method,
    credentials: 'same-origin',
    redirect: 'error',
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      'sallyport-console': '1',
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(abort === undefined ? {} : { signal: abort }),
  });
  noteClock(response.headers.get('date'));
  const answer = await readJson(response);
  if (response.ok) return answer as T;
  if (response.status === 401 && path !== '/v1/login') who.value = 'nobody';
  throw new Problem(response.status, isRecord(answer) ? answer : {});
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem(0, { code: 'UNREACHABLE', detail: 'The gateway does not answer.' });
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Problem(response.status, { code: 'NOT_JSON', detail: 'The answer was not from a Sallyport gateway.' });
  }
}

function noteClock(header: string | null): void {
  const served = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(served)) return;
  const offset = served + 500 - Date.now();
  // The header has whole seconds, so a smaller difference is only rounding.
  clockOffsetMs.value = Math.abs(offset) < 1500 ? 0 : offset;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
