import { readToolFailure } from '../authoring/tool-failure.ts';
import { buildGate, type Gate, type GateOptions } from '../gate/wrap/create-gate.ts';
import { judgeResult } from '../stages/execute/judge-result.ts';
import { readGatePolicy } from './read-gate-policy.ts';
import { parserOf } from './read-tool-schema.ts';

/** The gate as a library, for agents that run tools in their own process. */
export function createGate(options: GateOptions = {}): Gate {
  return buildGate(options, {
    policy: readGatePolicy(options),
    parserOf,
    judge: {
      returned: (value) => judgeResult({ value }, []),
      thrown: readToolFailure,
    },
  });
}
