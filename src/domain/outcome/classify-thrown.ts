import { PlaneError } from '../errors/errors.ts';
import { toEventError, type ErrorCategory, type EventError, type Fault } from './error-category.ts';

const MAX_CAUSES = 8;

/**
 * Error codes of Node, undici and libc. The code of a thrown value is compared with this list and never passed on: it can hold any text.
 */
const CATEGORY_OF_CODE: ReadonlyMap<unknown, ErrorCategory> = new Map<string, ErrorCategory>([
  ...each('network', 'ECONNREFUSED ECONNRESET ECONNABORTED ENOTFOUND EAI_AGAIN EAI_FAIL EPIPE EHOSTUNREACH EHOSTDOWN'),
  ...each('network', 'ENETUNREACH ENETDOWN EADDRNOTAVAIL ENOTCONN UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED'),
  ...each('timeout', 'ETIMEDOUT ESOCKETTIMEDOUT ERR_TIMEOUT UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT'),
  ...each('timeout', 'UND_ERR_BODY_TIMEOUT ERR_SOCKET_CONNECTION_TIMEOUT ERR_HTTP_REQUEST_TIMEOUT'),
  ...each('cancelled', 'ABORT_ERR ERR_ABORTED ERR_CANCELED UND_ERR_ABORTED ECANCELED'),
  ...each('permission', 'EACCES EPERM EROFS ERR_ACCESS_DENIED'),
  ...each('not_found', 'ENOENT'),
]);

const CATEGORY_OF_NAME: ReadonlyMap<unknown, ErrorCategory> = new Map<string, ErrorCategory>([
  ['TimeoutError', 'timeout'],
  ['AbortError', 'cancelled'],
]);

/**
 * The category and HTTP status of a thrown value. Reads own data properties only, of the value first, then of its causes. No getter is
 * invoked. The `name` of a class and the `message` are not trusted. Undefined for a value that throws while it is read (a proxy).
 */
export function classifyThrown(thrown: unknown): Fault | undefined {
  let current = thrown;
  let status: number | undefined;
  let category: ErrorCategory | undefined;
  for (let level = 0; level < MAX_CAUSES && isObject(current) && category === undefined; level += 1) {
    status ??= statusOf(current);
    category = categoryOfStatus(status) ?? categoryOf(current);
    current = ownValue(current, 'cause');
  }
  return toFault(category, status);
}

/** The fault for an HTTP status that a tool reported in its result. */
export function faultOfStatus(status: number | undefined): Fault | undefined {
  return toFault(categoryOfStatus(status), status);
}

function toFault(category: ErrorCategory | undefined, status: number | undefined): Fault | undefined {
  if (status === undefined) return category === undefined ? undefined : { category };
  return category === undefined ? { status } : { category, status };
}

/** The error field of an event about a thrown value that is not the result of a tool call. */
export function errorOfThrown(thrown: unknown): EventError {
  if (thrown instanceof PlaneError) return toEventError(storeError(thrown) ? 'store' : 'internal', thrown.code);
  const { category = 'internal', status } = classifyThrown(thrown) ?? {};
  return toEventError(category, undefined, status);
}

/** The HTTP status in the own data properties of a value, for example in the result of a tool that reports its failure. */
export function statusOf(value: object): number | undefined {
  return [ownValue(value, 'status'), ownValue(value, 'statusCode')].find(isStatus);
}

export function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

function categoryOfStatus(status: number | undefined): ErrorCategory | undefined {
  if (status === undefined || status < 400) return undefined;
  return CATEGORY_OF_STATUS.get(status) ?? (status < 500 ? 'upstream_4xx' : 'upstream_5xx');
}

const CATEGORY_OF_STATUS: ReadonlyMap<number, ErrorCategory> = new Map<number, ErrorCategory>([
  [400, 'invalid_args'],
  [422, 'invalid_args'],
  [401, 'permission'],
  [403, 'permission'],
  [407, 'permission'],
  [404, 'not_found'],
  [410, 'not_found'],
  [408, 'timeout'],
  [409, 'conflict'],
  [429, 'rate_limited'],
]);

function categoryOf(value: object): ErrorCategory | undefined {
  return (
    CATEGORY_OF_CODE.get(ownValue(value, 'code')) ??
    CATEGORY_OF_NAME.get(ownValue(value, 'name') ?? nameOfDomException(value))
  );
}

const DOM_NAME = Object.getOwnPropertyDescriptor(DOMException.prototype, 'name');

/**
 * The name of a DOMException, such as the one `AbortSignal.timeout` throws. The name is in the platform's own getter, which accepts only a
 * real DOMException.
 */
function nameOfDomException(value: object): unknown {
  try {
    return DOM_NAME?.get?.call(value);
  } catch {
    return undefined;
  }
}

function ownValue(value: object, name: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(value, name)?.value;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function storeError({ code }: PlaneError): boolean {
  return code.startsWith('STORE_');
}

function each(category: ErrorCategory, codes: string): [string, ErrorCategory][] {
  return codes.split(' ').map((code) => [code, category]);
}
