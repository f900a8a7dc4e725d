import { isEnding, type Ending } from './domain/call/ending.ts';
import type { MaybePromise } from './base/maybe-promise.ts';
import type { Plane } from './domain/ports/plane.ts';
import type { AdmittedCall, AllowedCall } from './domain/ports/staged-calls.ts';
import { admitAgain } from './stages/admit/admit.ts';
import { gateAgain } from './stages/gate/gate.ts';
import { identifyAgain } from './stages/identify/identify.ts';

/**
 * The verdict on one call, and how long it may be trusted. Between the verdict and the first line of the tool time can pass: a hook that
 * takes seconds, a secret that comes from a command, a process that starts, this process stopped by the system. Meanwhile the session
 * may be revoked, the policy changed, the call cancelled or given to another worker. So the code that is about to enter the tool asks
 * `stopFor`: while the store's last word is younger than `trustSnapshotMs` the answer costs nothing; after that the store is asked again
 * and, under a newer policy, permission, selection and rules as well.
 *
 * An answer of the store that took longer than the time it may be trusted for is too old on arrival, and is asked for again. Each time
 * the trust doubles, so that a slow store delays calls and does not stop them.
 */
export class StartPermit {
  readonly kind = 'permitted';
  readonly #plane: Plane;
  #verdict: AllowedCall;
  #trustMs: number;
  #isMarked = false;
  /** The policy that was looked at last, whatever it said. */
  policyVersion: number;

  constructor(verdict: AllowedCall, plane: Plane) {
    this.#plane = plane;
    this.#verdict = verdict;
    this.#trustMs = plane.settings.trustSnapshotMs;
    this.policyVersion = verdict.call.admitted.policyVersion;
  }

  /** As it is under the policy that was looked at last. */
  get verdict(): AllowedCall {
    return this.#verdict;
  }

  /** On the clock of `performance.now()`: until then the tool may be entered without another look. */
  get validUntil(): number {
    return this.#verdict.call.admitted.checkedAt + this.#trustMs;
  }

  /** After this no person is asked any more: a parked call with a start mark would count as one that ran. */
  marked(): void {
    this.#isMarked = true;
  }

  /** Why the tool may not be entered now; undefined when it may. */
  stopFor(): MaybePromise<Ending | undefined> {
    return performance.now() <= this.validUntil ? undefined : this.#lookAgain();
  }

  async #lookAgain(): Promise<Ending | undefined> {
    for (;;) {
      const admitted = await admitAgain(this.#verdict.call.admitted, this.#plane);
      if (isEnding(admitted)) return admitted;
      this.policyVersion = admitted.policyVersion;
      const verdict = await this.#judge(admitted);
      if (isEnding(verdict)) return verdict;
      this.#verdict = verdict;
      if (performance.now() <= this.validUntil) return undefined;
      this.#trustMs *= 2;
    }
  }

  /** Under the same policy the verdict stays, unless a grant gave it: that may have been revoked. */
  #judge(admitted: AdmittedCall): MaybePromise<AllowedCall | Ending> {
    const { call, facts, ...rest } = this.#verdict;
    if (admitted.policyVersion === call.admitted.policyVersion && facts.grant === undefined)
      return { ...rest, facts, call: { ...call, admitted } };
    return this.#judgeUnder(admitted);
  }

  async #judgeUnder(admitted: AdmittedCall): Promise<AllowedCall | Ending> {
    const { call } = this.#verdict;
    const identified = await identifyAgain(call, admitted, this.#plane);
    if (isEnding(identified)) return identified;
    const { permission } = identified;
    const again = await gateAgain(this.#verdict, admitted, !this.#isMarked, this.#plane);
    return isEnding(again) ? again : { ...again, call: { ...again.call, permission } };
  }
}
