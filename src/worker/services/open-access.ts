import type { JsonValue } from '../../base/json.ts';
import type { ServiceCaller } from '../../domain/tool/service.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { ServiceAccess } from '../../domain/ports/service-access.ts';
import type { RunningService, ServiceCall, ServiceHandle } from './define-service.ts';
import { ServiceFailure, readServiceFailure } from './service-failure.ts';

export interface OfferedService {
  readonly name: string;
  readonly service: RunningService;
  readonly methods: readonly string[];
}

/** @internal */
export const SERVICE_LIMITS = Object.freeze({
  /** Time limit of one request. The deadline of the call may be earlier. */
  requestMs: 30_000,
  argumentsBytes: 1024 * 1024,
  answerBytes: 4 * 1024 * 1024,
  /** Max requests of one call at the same time. */
  open: 32,
  /** Max requests of one call in total. */
  requests: 10_000,
});

/**
 * The only way from a call to a service. It is in the worker: a tool's process reaches it by messages. It closes with the call, even if that
 * process is still alive.
 */
export function openAccess(offered: readonly OfferedService[], caller: ServiceCaller, log: Log): ServiceAccess {
  const underWay = new Set<AbortController>();
  let ended = false;
  const keys = new Map<string, number>();
  let [open, requests] = [0, 0];

  /** Makes a handle that is bound to the signal of one request, and to the call in everything else. */
  function handleOf({ name, service }: OfferedService, signal: AbortSignal): ServiceHandle {
    const nextKey = (): string => {
      const ordinal = (keys.get(name) ?? 0) + 1;
      keys.set(name, ordinal);
      return `${caller.callId}:${ordinal}`;
    };
    const call: ServiceCall = { ...caller, signal, nextKey };
    return service.open(Object.freeze(call));
  }

  async function run(service: OfferedService, method: string, args: readonly JsonValue[]): Promise<JsonValue> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), SERVICE_LIMITS.requestMs);
    underWay.add(controller);
    try {
      const handle = handleOf(service, controller.signal);
      const asked = Object.hasOwn(handle, method) ? handle[method] : undefined;
      if (typeof asked !== 'function') throw new TypeError(`${service.name} offers ${method}, but has no such method`);
      const answer = await Promise.race([asked.apply(handle, copyOf(args)), untilAborted(controller.signal)]);
      if (ended) throw callEnded();
      return plainAnswer(answer);
    } finally {
      clearTimeout(timer);
      underWay.delete(controller);
    }
  }

  return {
    offered: Object.freeze(Object.fromEntries(offered.map(({ name, methods }) => [name, methods]))),
    async call({ service: name, method, args }) {
      if (ended) throw callEnded();
      const service = offered.find((one) => one.name === name);
      if (service === undefined || !service.methods.includes(method)) {
        throw new ServiceFailure('SERVICE_UNKNOWN', `This tool has no ${name}.${method}.`);
      }
      requests += 1;
      if (open >= SERVICE_LIMITS.open || requests > SERVICE_LIMITS.requests) {
        throw new ServiceFailure('SERVICE_BUSY', `Not more than ${SERVICE_LIMITS.open} requests at a time.`);
      }
      if (Buffer.byteLength(JSON.stringify(args)) > SERVICE_LIMITS.argumentsBytes) {
        throw new ServiceFailure('SERVICE_INVALID', `${name}.${method}: not more than 1 MiB of arguments.`);
      }
      open += 1;
      try {
        return await run(service, method, args);
      } catch (error) {
        throw errorForTool(error, name, method, log, caller);
      } finally {
        open -= 1;
      }
    },
    close() {
      ended = true;
      for (const controller of underWay) controller.abort();
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = (): void => reject(new ServiceFailure('SERVICE_TIMED_OUT', 'The service did not answer in time.'));
    if (signal.aborted) refuse();
    else signal.addEventListener('abort', refuse, { once: true });
  });
}

function callEnded(): ServiceFailure {
  return new ServiceFailure('CALL_ENDED', 'This call has ended.');
}

function copyOf(args: readonly JsonValue[]): JsonValue[] {
  return JSON.parse(JSON.stringify(args)) as JsonValue[];
}

/** Answers are converted to JSON and back in every runner, so that a tool behaves the same in all of them. */
function plainAnswer(answer: unknown): JsonValue {
  const text = JSON.stringify(answer ?? null);
  if (Buffer.byteLength(text) > SERVICE_LIMITS.answerBytes) {
    throw new ServiceFailure('SERVICE_TOO_LARGE', 'The answer of the service is too large; ask for less.');
  }
  return JSON.parse(text) as JsonValue;
}

/** The tool gets the message of a ServiceFailure, which the service threw on purpose. Every other error goes to the operator's log only. */
function errorForTool(
  error: unknown,
  service: string,
  method: string,
  log: Log,
  { callId, tool }: ServiceCaller,
): Error {
  const said = readServiceFailure(error);
  if (said !== undefined) return new ServiceFailure(said.code, said.message);
  log.error({ stage: 'execute', service, method, callId, tool, error }, 'a service failed');
  return new ServiceFailure('SERVICE_FAILED', `The service ${service} failed; it was not the tool's fault.`);
}
