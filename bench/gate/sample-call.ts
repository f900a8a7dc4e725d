import { encodeHistory, type Attempt, type IdentifiedCall, type Outcome, type Policy } from 'sallyport/testing';
import { answerRequest, makeRequest } from '../round-trip/variant.ts';

/** Number of attempts that the store remembers of a run when its history is full. */
const FULL_HISTORY = 128;
const DIGEST = 'ab12cd34';

const policyWith = (gate: Partial<Policy>): Policy => ({
  roles: {},
  permissions: { 'bench.*': { allow: ['*'] } },
  paused: {},
  ...gate,
});

/**
 * A call as it reaches the gate. A history is sent only with a call that looks repeated. Here the call was made four times before with
 * other results, between 124 different calls, so every detector has to check it and none objects.
 */
export function sampleCall(gate: Partial<Policy>, withHistory: boolean): IdentifiedCall {
  const { id, text } = makeRequest(1);
  const history = withHistory ? { history: encodeHistory(fullHistory()) } : {};
  const sequence = withHistory ? FULL_HISTORY + 1 : 1;
  const delivery = {
    callId: '0.scope.call',
    tool: 'bench.read',
    session: '0.scope.session',
    run: 'run',
    bodyDigest: DIGEST.repeat(8),
    acceptedAt: FULL_HISTORY * 1000,
    watched: true,
    runState: { sequence, toolSequence: sequence, startedAt: 0, cost: 0, loopEnds: [] },
    ...history,
  };
  const declaration = { id: 'bench.read', effect: 'read', privileged: false, digest: 'digest' };
  // Only the fields that the gate reads.
  return {
    admitted: { delivery, policy: policyWith(gate), now: FULL_HISTORY * 1000 },
    envelope: { arguments: JSON.stringify({ id, text }) },
    identity: { tenant: 'default', subject: 'bench', agent: 'bench' },
    tool: { declaration, validateInput: () => [] },
    arguments: { id, text },
    canonical: JSON.stringify({ id, text }),
  } as unknown as IdentifiedCall;
}

function fullHistory(): Attempt[] {
  return Array.from({ length: FULL_HISTORY }, (_, index): Attempt => {
    const own = index % 32 === 31;
    return {
      sequence: index + 1,
      tool: own ? 'read' : `t${String(index % 10).padStart(3, '0')}`,
      raw: own ? DIGEST : String(index).padStart(8, '0'),
      at: index * 1000,
      ending: 'ok',
      result: `r${String(index).padStart(7, '0')}`,
    };
  });
}

/** A result of about 200 bytes, as a structured value. */
export function sampleOutcome(): Outcome {
  const reply = answerRequest(makeRequest(1));
  return {
    kind: 'ok',
    executed: 'yes',
    retryable: false,
    content: [],
    structured: { ...reply },
  };
}
