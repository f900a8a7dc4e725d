import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Approvals(): VNode {
  return (
    <>
      <PageHead title="Approvals" />
      <Empty title="Nothing here yet." />
    </>
  );
}
