import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from './api.ts';
import type { ListedApprovalView, Page } from './api-types.ts';
import { useLive } from './use-live.ts';

const pending = signal<ReadonlySet<string>>(new Set());

/** How many questions wait for an answer, on every page. */
export const pendingCount = signal(0);
pending.subscribe((ids) => {
  pendingCount.value = ids.size;
});

const MOST = 500;

/** Told while the list was read: the list may be older. */
let toldMeanwhile: ListedApprovalView[] = [];

async function count(): Promise<void> {
  toldMeanwhile = [];
  try {
    const { items } = await api.get<Page<ListedApprovalView>>('/v1/approvals', {
      query: { state: 'pending', limit: MOST },
    });
    pending.value = toldMeanwhile.reduce(withApproval, new Set(items.map(({ id }) => id)));
  } catch {
    // The page itself says what is wrong; the number is only a courtesy.
  }
}

function withApproval(ids: ReadonlySet<string>, { id, state }: ListedApprovalView): ReadonlySet<string> {
  const next = new Set(ids);
  if (state === 'pending') next.add(id);
  else next.delete(id);
  return next;
}

export function usePendingCount(): void {
  useEffect(() => void count(), []);
  useLive('approvals', {
    onEvent: (data) => {
      const approval = data as ListedApprovalView;
      toldMeanwhile = [...toldMeanwhile, approval].slice(-MOST);
      pending.value = withApproval(pending.value, approval);
    },
    onResync: () => void count(),
  });
}
