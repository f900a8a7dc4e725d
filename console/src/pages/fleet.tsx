import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Fleet(): VNode {
  return (
    <>
      <PageHead title="Fleet" />
      <Empty title="Nothing here yet." />
    </>
  );
}
