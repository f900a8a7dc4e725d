import { isEnding, type Ending } from './domain/call/ending.ts';
import type { MaybePromise } from './base/maybe-promise.ts';
import type { Plane } from './domain/ports/plane.ts';
import type { AdmittedCall, AllowedCall } from './domain/ports/staged-calls.ts';
import { admitAgain } from './stages/admit/admit.ts';
import { gateAgain } from './stages/gate/gate.ts';
import { identifyAgain } from './stages/identify/identify.ts';

/**
 * The verdict on one call, and how long it may be trusted. Time can pass between the verdict and the first line of the tool: a hook takes
 * seconds, a secret comes from a command, a process has to start, the system suspends this process. Meanwhile the session may be revoked,
 * the policy changed, the call cancelled or given to another worker. So the code that starts the tool asks `stopFor` right before. While
 * the store's last answer is younger than `trustSnapshotMs`, that costs nothing. After that the store is asked again and, if the policy is
 * newer, permission, selection and rules are checked again.
 *
 * If the store takes longer to answer than its answer may be trusted, the answer is too old on arrival, and the store is asked again. Each
 * time, answers are trusted for twice as long as before, so that a slow store delays calls but does not stop them.
 */
export class StartPermit {
  readonly kind = 'permitted';
  readonly #plane: Plane;
  #verdict: AllowedCall;
  #trustMs: number;
  #isMarked = false;
  /** Version of the policy that was checked last, also if it did not allow the call. */
  policyVersion: number;

  constructor(verdict: AllowedCall, plane: Plane) {
    this.#plane = plane;
    this.#verdict = verdict;
    this.#trustMs = plane.settings.trustSnapshotMs;
    this.policyVersion = verdict.call.admitted.policyVersion;
  }

  /** The verdict under the last policy that allowed the call. */
  get verdict(): AllowedCall {
    return this.#verdict;
  }

  /** In milliseconds of `performance.now()`. Until then the tool may be started without asking the store again. */
  get validUntil(): number {
    return this.#verdict.call.admitted.checkedAt + this.#trustMs;
  }

  /** Call when the start mark is written. From then on no person is asked: a parked call with a start mark would count as one that ran. */
  marked(): void {
    this.#isMarked = true;
  }

  /** Returns the ending of the call if the tool may not be started now; undefined if it may. */
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

  /** Under the same policy version the verdict stays, unless it rests on a grant: the grant may have been revoked since. */
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
