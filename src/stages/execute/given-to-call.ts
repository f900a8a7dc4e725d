import { refuseSecret, type SecretUser } from '../../domain/secret/secret-use.ts';
import { SECRET_WORD } from '../../domain/secret/secret-reference.ts';
import type { CallEffects } from '../../domain/ports/call-effects.ts';
import type { Plane, ServedTool } from '../../domain/ports/plane.ts';
import type { ServiceAccess } from '../../domain/ports/service-access.ts';
import type { SecretUse, RunEnding, StartCheck } from '../../domain/ports/tool-runner.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import type { ExecutableCall } from './run-and-judge.ts';
import type { Ending } from '../../domain/call/ending.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';

/**
 * Opens the services that the tool declared, in the name of the session and regardless of the arguments. Once the run has ended, a handle
 * that the tool kept does not work any more.
 */
export function openServices(
  { admitted, identity, tool }: IdentifiedCall,
  { services }: Pick<Plane, 'services'>,
): ServiceAccess | undefined {
  if (services === undefined || tool.needs === undefined) return undefined;
  const { callId, fence, session } = admitted.delivery;
  return services.open(tool.needs, { identity, session, callId, fence, tool: tool.declaration.id });
}

/** The effects of one call. They are opened when the tool sends its first effect: most tools send none. */
export interface LazyEffects {
  opened: CallEffects | undefined;
  readonly onPlatform: NonNullable<ExecutableCall['onPlatform']>;
}

export function effectsOf(
  { admitted, identity, tool }: IdentifiedCall,
  { effects }: Pick<Plane, 'effects'>,
): LazyEffects | undefined {
  if (effects === undefined) return undefined;
  const timeoutMs = timeoutOf(admitted, tool);
  const lazy: LazyEffects = {
    opened: undefined,
    onPlatform: (request, signal) => {
      lazy.opened ??= effects.open({ delivery: admitted.delivery, identity, timeoutMs });
      return lazy.opened.perform(request, signal);
    },
  };
  return lazy;
}

export function timeoutOf({ delivery, now }: IdentifiedCall['admitted'], { declaration }: ServedTool): number {
  return Math.max(1, Math.round(Math.min(declaration.limits.timeoutMs, delivery.deadline - now)));
}

export function secretUser(
  { tool, identity, admitted }: IdentifiedCall,
  { secrets }: Pick<Plane, 'secrets'>,
): SecretUser {
  const knows = (name: string): boolean => secrets?.knows(name) === true;
  return { tool: tool.declaration, policy: admitted.policy, identity, knows };
}

/** Undefined when neither the tool nor the arguments name a secret, as for most calls. */
export function secretUse(
  call: IdentifiedCall,
  canonical: string,
  needs: Pick<Plane, 'secrets'>,
  onTaint?: SecretUse['onTaint'],
): SecretUse | undefined {
  if (call.tool.declaration.secrets === undefined && !canonical.includes(SECRET_WORD)) return undefined;
  const user = secretUser(call, needs);
  const refuse: SecretUse['refuse'] = (name, place) => refuseSecret(name, place, user);
  return onTaint === undefined ? { refuse } : { refuse, onTaint };
}

/** Says whether an allowed call may still be started. Implemented by `StartPermit` in `src/start-permit.ts`. */
export interface Permit {
  readonly validUntil: number;
  marked(): void;
  stopFor(): MaybePromise<Ending | undefined>;
}

/**
 * The permit in the form that a runner checks. If the permit forbids the start, the run ends without starting the tool, and `stopped` has
 * the ending of the call.
 */
export class EntryCheck implements StartCheck {
  readonly #permit: Permit;
  #stopped: Ending | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(permit: Permit) {
    this.#permit = permit;
  }

  get validUntil(): number {
    return this.#permit.validUntil;
  }

  stopFor(): MaybePromise<RunEnding | undefined> {
    const stopping = andThen(this.#permit.stopFor(), (stop) => this.#endingOf(stop));
    return stopping instanceof Promise ? stopping.catch((error: unknown) => this.#fail(error)) : stopping;
  }

  /**
   * How the call ends if the permit stopped it. If the permit failed with a store error, that error is thrown again: the call is not
   * settled and is left for recovery.
   */
  get stopped(): Ending | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#stopped;
  }

  #endingOf(stop: Ending | undefined): RunEnding | undefined {
    if (stop === undefined) return undefined;
    this.#stopped = stop;
    return stop.kind === 'ended' ? { kind: 'not-run', outcome: stop.outcome } : { kind: 'aborted' };
  }

  #fail(error: unknown): RunEnding {
    this.#failure = { error };
    return { kind: 'aborted' };
  }
}
