import { api } from '../api.ts';
import type { ListedApprovalView, Page } from '../api-types.ts';
import { useLive } from '../use-live.ts';
import { useResource, type Resource } from '../use-resource.ts';

const MAX = 500;

export interface PendingList extends Resource<readonly ListedApprovalView[]> {
  /** Replaces a question in the list with a newer view of it. */
  readonly put: (approval: ListedApprovalView) => void;
}

/** The pending questions, oldest first, so that a new one never moves the question that a person is looking at. */
export function usePending(): PendingList {
  const list = useResource(readPending, []);
  const put = (approval: ListedApprovalView): void => list.change((items) => withApproval(items, approval));
  useLive('approvals', { onEvent: (data) => put(data as ListedApprovalView), onResync: list.reload });
  return { ...list, put };
}

async function readPending(signal: AbortSignal): Promise<readonly ListedApprovalView[]> {
  const query = { state: 'pending', limit: MAX };
  const { items } = await api.get<Page<ListedApprovalView>>('/v1/approvals', { query, signal });
  return items.toSorted(byAge);
}

/**
 * Updates or adds a question. A decided one stays in the list, with its new state, until the list is read again: the question that a person
 * is looking at must not turn into another one.
 */
function withApproval(
  items: readonly ListedApprovalView[],
  approval: ListedApprovalView,
): readonly ListedApprovalView[] {
  const isKnown = items.some(({ id }) => id === approval.id);
  if (isKnown) return items.map((item) => (item.id === approval.id ? approval : item));
  return approval.state === 'pending' ? [...items, approval].toSorted(byAge) : items;
}

function byAge(one: ListedApprovalView, other: ListedApprovalView): number {
  return one.requestedAt - other.requestedAt || (one.id < other.id ? -1 : 1);
}
