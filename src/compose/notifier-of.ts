import type { ApprovalNotifier } from '../domain/ports/approval-notifier.ts';
import type { Plane } from '../domain/ports/plane.ts';

/** Joins the notifiers that are there into one. */
export function notifierOf(...given: readonly (ApprovalNotifier | undefined)[]): Pick<Plane, 'approvals'> {
  const notifiers = given.filter((one) => one !== undefined);
  if (notifiers.length === 0) return {};
  return {
    approvals: {
      requested: (asked) => notifiers.forEach((one) => one.requested(asked)),
      resolved: (approval) => notifiers.forEach((one) => one.resolved(approval)),
    },
  };
}
