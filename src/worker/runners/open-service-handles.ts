import { ToolFailure } from '../../modules/authoring/tool-failure.ts';
import type { JsonValue } from '../../base/json.ts';
import type { ServiceRequest } from '../../domain/ports/service-access.ts';
import { makePlain, SizeBudget } from './make-plain.ts';

const MAX_ARGUMENTS = 8;
const ARGUMENTS_BYTES = 1024 * 1024;

type Ask = (request: ServiceRequest) => Promise<JsonValue>;

/** What a tool sees of its services: methods that send requests, and no objects of the service itself. The same in every runner. */
export function openServiceHandles(
  offered: Readonly<Record<string, readonly string[]>>,
  ask: Ask,
): Readonly<Record<string, unknown>> {
  const handles = Object.entries(offered).map(([service, methods]) => {
    const entries = methods.map((method) => [method, (...args: unknown[]) => request(service, method, args, ask)]);
    return [service, Object.freeze(Object.fromEntries(entries))];
  });
  return Object.freeze(Object.fromEntries(handles));
}

async function request(service: string, method: string, args: readonly unknown[], ask: Ask): Promise<JsonValue> {
  return ask(serviceRequest(service, method, args)).catch((error: unknown) => {
    throw failureOf(error);
  });
}

/**
 * Checks a request to a service that a tool makes, or that a tool's process sends. The error names the place of a value that is not JSON.
 */
export function serviceRequest(service: unknown, method: unknown, args: unknown): ServiceRequest {
  if (typeof service !== 'string' || typeof method !== 'string') throw new TypeError('a request without a method');
  if (!Array.isArray(args) || args.length > MAX_ARGUMENTS) {
    throw new TypeError(`${service}.${method}: not more than ${MAX_ARGUMENTS} arguments`);
  }
  const budget = new SizeBudget(ARGUMENTS_BYTES);
  const plain = args.map((value: unknown) =>
    value === undefined ? undefined : makePlain(value, budget, `${service}.${method}`),
  );
  // Undefined arguments at the end are left out. JSON cannot express one in between, so that becomes null.
  while (plain.length > 0 && plain.at(-1) === undefined) plain.pop();
  return { service, method, args: plain.map((value) => value ?? null) };
}

/** A tool that does not catch this error ends as `failed`, with the service's own message and code. */
function failureOf(error: unknown): Error {
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  if (name !== 'ServiceFailure' || typeof message !== 'string') return error as Error;
  return new ToolFailure(message, typeof code === 'string' ? { code } : {});
}
