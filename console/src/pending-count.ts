import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from './api.ts';
import type { ListedApprovalView, Page } from './api-types.ts';
import { useLive } from './use-live.ts';

const pending = signal<ReadonlyMap<string, ListedApprovalView>>(new Map());

/** How many questions wait for an answer. Every page shows it. */
export const pendingCount = computed(() => pending.value.size);

/** The pending questions, oldest first. */
export const pendingQuestions = computed(() =>
  [...pending.value.values()].toSorted((one, other) => one.requestedAt - other.requestedAt),
);

const MAX = 500;

/** Events that arrived while the list was being read. They are applied after the list, which may be older. */
let arrivedMeanwhile: ListedApprovalView[] = [];

async function count(): Promise<void> {
  arrivedMeanwhile = [];
  try {
    const { items } = await api.get<Page<ListedApprovalView>>('/v1/approvals', {
      query: { state: 'pending', limit: MAX },
    });
    pending.value = arrivedMeanwhile.reduce<Pending>(withApproval, new Map(items.map((item) => [item.id, item])));
  } catch {
    // The page itself shows the error; the count is only a convenience.
  }
}

type Pending = ReadonlyMap<string, ListedApprovalView>;

function withApproval(questions: Pending, approval: ListedApprovalView): Pending {
  const next = new Map(questions);
  if (approval.state === 'pending') next.set(approval.id, approval);
  else next.delete(approval.id);
  return next;
}

export function usePendingCount(): void {
  useEffect(() => void count(), []);
  useLive('approvals', {
    onEvent: (data) => {
      const approval = data as ListedApprovalView;
      arrivedMeanwhile = [...arrivedMeanwhile, approval].slice(-MAX);
      pending.value = withApproval(pending.value, approval);
    },
    onResync: () => void count(),
  });
}
