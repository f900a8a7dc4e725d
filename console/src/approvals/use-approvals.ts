import { api } from '../api.ts';
import type { ApprovalView, Page } from '../api-types.ts';
import { useLive } from '../use-live.ts';
import { useResource, type Resource } from '../use-resource.ts';

const MOST = 500;

export interface PendingList extends Resource<readonly ApprovalView[]> {
  /** Puts a newer view of one in its place. */
  readonly put: (approval: ApprovalView) => void;
}

/** The questions that wait, oldest first, so that a new one never moves what a person is looking at. */
export function usePending(): PendingList {
  const list = useResource(readPending, []);
  const put = (approval: ApprovalView): void => list.change((items) => withApproval(items, approval));
  useLive('approvals', { onEvent: (data) => put(data as ApprovalView), onResync: list.reload });
  return { ...list, put };
}

async function readPending(signal: AbortSignal): Promise<readonly ApprovalView[]> {
  const query = { state: 'pending', limit: MOST };
  const { items } = await api.get<Page<ApprovalView>>('/v1/approvals', { query, signal });
  return items.toSorted(byAge);
}

/** One that is decided stays, marked, until the list is read again: what is looked at must not turn into another question. */
function withApproval(items: readonly ApprovalView[], approval: ApprovalView): readonly ApprovalView[] {
  const isKnown = items.some(({ id }) => id === approval.id);
  if (isKnown) return items.map((item) => (item.id === approval.id ? approval : item));
  return approval.state === 'pending' ? [...items, approval].toSorted(byAge) : items;
}

function byAge(one: ApprovalView, other: ApprovalView): number {
  return one.requestedAt - other.requestedAt || (one.id < other.id ? -1 : 1);
}
