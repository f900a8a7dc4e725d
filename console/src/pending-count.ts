import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from './api.ts';
import type { ApprovalView, Page } from './api-types.ts';
import { useLive } from './use-live.ts';

const pending = signal<ReadonlySet<string>>(new Set());

/** How many questions wait for an answer, on every page. */
export const pendingCount = signal(0);
pending.subscribe((ids) => {
  pendingCount.value = ids.size;
});

const MOST = 500;

async function count(): Promise<void> {
  try {
    const { items } = await api.get<Page<ApprovalView>>('/v1/approvals', { query: { state: 'pending', limit: MOST } });
    pending.value = new Set(items.map(({ id }) => id));
  } catch {
    // The page itself says what is wrong; the number is only a courtesy.
  }
}

export function usePendingCount(): void {
  useEffect(() => void count(), []);
  useLive('approvals', {
    onEvent: (data) => {
      const { id, state } = data as ApprovalView;
      const next = new Set(pending.value);
      if (state === 'pending') next.add(id);
      else next.delete(id);
      pending.value = next;
    },
    onResync: () => void count(),
  });
}
