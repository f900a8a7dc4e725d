import { readToolFailure } from '../modules/authoring/tool-failure.ts';
import { buildGate, type Gate } from '../gate/wrap/create-gate.ts';
import { checkGateOptions, type GateOptions } from '../gate/wrap/gate-options.ts';
import { createEventBus } from '../observe/event-bus.ts';
import type { Events } from '../domain/ports/events.ts';
import { judgeResult } from '../stages/execute/judge-result.ts';
import { readGatePolicy } from '../gate/policy/read-gate-policy.ts';
import { defaultsOf, outputOf, parserOf } from './read-tool-schema.ts';
import { emitHookFailures } from './emit-hook-failures.ts';

/** Creates the gate as a library, for agents that run tools in their own process. */
export function createGate(options: GateOptions = {}): Gate {
  checkGateOptions(options);
  const events = options.onEvent === undefined ? undefined : listen(options.onEvent, options.log);
  return buildGate(options, {
    policy: readGatePolicy(options),
    ...(events === undefined ? {} : { events, onHookFailed: emitHookFailures(events) }),
    parserOf,
    defaultsOf,
    outputOf,
    judge: {
      returned: (value) => judgeResult({ value }, []),
      thrown: readToolFailure,
    },
  });
}

function listen(listener: NonNullable<GateOptions['onEvent']>, log: GateOptions['log']): Events {
  const events = createEventBus({ onError: (problem, error) => log?.warn({ error }, problem) });
  events.subscribe(listener);
  return events;
}
