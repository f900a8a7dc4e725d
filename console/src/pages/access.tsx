import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Access(): VNode {
  return (
    <>
      <PageHead title="Access" />
      <Empty title="Nothing here yet." />
    </>
  );
}
