import type { VNode } from 'preact';
import { useLocation, useRoute } from 'preact-iso';
import { History } from '../approvals/history.tsx';
import { PendingApprovals } from '../approvals/pending-approvals.tsx';
import { PageHead } from '../components/page-head.tsx';
import '../styles/approvals.css';

export function Approvals(): VNode {
  const { query } = useLocation();
  const { params } = useRoute();
  const isHistory = query['tab'] === 'history';
  return (
    <>
      <PageHead title="Approvals">
        <nav class="tabs" aria-label="Which questions">
          <a href="/console/approvals" aria-current={isHistory ? undefined : 'page'}>
            Pending
          </a>
          <a href="/console/approvals?tab=history" aria-current={isHistory ? 'page' : undefined}>
            Decided
          </a>
        </nav>
      </PageHead>
      {isHistory ? <History /> : <PendingApprovals openId={params['id']} />}
    </>
  );
}
